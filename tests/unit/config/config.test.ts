import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { VARIABLES } from '../../../src/server/config/config-variables.ts'
import { ConfigError, describeConfig, readConfig } from '../../../src/server/config/config.ts'

/** The message of the refusal, or `undefined` when the environment is taken. */
function refusal(environment: Record<string, string>): ConfigError | undefined {
  try {
    readConfig(environment)
    return undefined
  } catch (error) {
    if (error instanceof ConfigError) return error
    throw error
  }
}

test('an empty environment is enough', () => {
  const config = readConfig({ PORT: '', ORIGIN: '  ' })
  expect(config).toMatchObject({
    port: 3_000,
    host: '0.0.0.0',
    origins: [],
    logLevel: 'info',
    renderTimeoutMs: 10_000,
    shutdownGraceMs: 10_000,
    shutdownDelayMs: 0,
    maxPendingRenders: 128 * availableParallelism(),
    dataDir: resolve('data'),
    secretKeys: [],
    actionBodyLimit: 1_048_576,
    sentryDsn: '',
    sentryEnvironment: 'production',
    sentryRelease: '',
    sentryTracesSampleRate: 0,
    redisUrl: '',
    redisPrefix: '',
  })
  expect(config.reportTunnelPath).toMatch(/^\/_m\/reports\/[0-9a-f]{8}$/)
  expect(config.trustProxy('127.0.0.1')).toBe(false)
  expect(Object.isFrozen(config)).toBe(true)
})

test('every value is read', () => {
  const config = readConfig({
    PORT: ' 0 ',
    HOST: '::1',
    ORIGIN: 'https://Example.test:443, http://b.test:8080',
    TRUST_PROXY: '10.0.0.0/8',
    LOG_LEVEL: 'debug',
    RENDER_TIMEOUT_MS: '5',
    SHUTDOWN_GRACE_MS: '0',
    SHUTDOWN_DELAY_MS: '7',
    MAX_PENDING_RENDERS: '3',
    MAX_OPEN_STREAMS: '7',
    REDIS_URL: 'rediss://cache.test',
    REDIS_PREFIX: 'shop-staging',
    DATA_DIR: 'some/where',
    SECRET_KEYS: `${'new-key-'.repeat(4)}, ${'old-key-'.repeat(4)}`,
    ACTION_BODY_LIMIT: '64KB',
    SENTRY_DSN: 'https://key@errors.test/path/1',
    SENTRY_ENVIRONMENT: 'staging',
    SENTRY_RELEASE: 'shop@1.2.3+4',
    SENTRY_TRACES_SAMPLE_RATE: '.05',
    REPORT_TUNNEL_PATH: '/left/here',
    WORKERS: 'auto',
  })
  expect(config).toMatchObject({
    port: 0,
    host: '::1',
    origins: ['https://example.test', 'http://b.test:8080'],
    logLevel: 'debug',
    renderTimeoutMs: 5,
    shutdownGraceMs: 0,
    shutdownDelayMs: 7,
    maxPendingRenders: 3,
    maxOpenStreams: 7,
    dataDir: resolve('some/where'),
    secretKeys: ['new-key-'.repeat(4), 'old-key-'.repeat(4)],
    actionBodyLimit: 65_536,
    sentryDsn: 'https://key@errors.test/path/1',
    sentryEnvironment: 'staging',
    sentryRelease: 'shop@1.2.3+4',
    sentryTracesSampleRate: 0.05,
    reportTunnelPath: '/left/here',
    redisUrl: 'rediss://cache.test',
    redisPrefix: 'shop-staging',
  })
  expect(config.trustProxy('10.1.1.1')).toBe(true)
})

test.for([
  ['1', 1],
  ['100b', 100],
  ['1kb', 1_024],
  ['2Mb', 2_097_152],
  ['1GB', 1_073_741_824],
  ['1073741824', 1_073_741_824],
] as const)('a body limit of %s is %i bytes', ([text, bytes]) => {
  expect(readConfig({ ACTION_BODY_LIMIT: text }).actionBodyLimit).toBe(bytes)
})

test.for([
  '$(openssl rand -base64 32)',
  '${SECRET_KEYS_OF_MILLS}',
  '`openssl rand -base64 32`',
  '"0123456789abcdef0123456789abcdef"',
  "'0123456789abcdef0123456789abcdef'",
  'output-of-openssl-rand-base64-32',
])('a key that everybody knows is refused: %s', (key) => {
  expect(refusal({ SECRET_KEYS: `${'x'.repeat(32)},${key}` })?.message).toMatch(/is an example.*openssl rand/)
})

test('a key that could be guessed is refused, and the message says how to make a better one', () => {
  const long = 'x'.repeat(32)
  expect(refusal({ SECRET_KEYS: long })).toBeUndefined()
  expect(refusal({ SECRET_KEYS: `${long},${'x'.repeat(15)}` })?.message).toMatch(/16 characters a key.*openssl rand/)
})

describe('a wrong value is refused with one line that names variable, fault and a valid example', () => {
  test.for([
    ['PORT', 'abc'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '3e3'],
    ['PORT', '0x10'],
    ['HOST', 'a b'],
    ['HOST', 'localhost:3000'],
    ['ORIGIN', 'example.com'],
    ['ORIGIN', 'https://example.com/'],
    ['ORIGIN', 'https://example.com/path'],
    ['ORIGIN', 'https://user:word@example.com'],
    ['ORIGIN', 'https://example.com?x'],
    ['ORIGIN', 'ftp://example.com'],
    ['ORIGIN', 'null'],
    ['ORIGIN', '*'],
    ['ORIGIN', ','],
    ['ORIGIN', 'https://**.a.test'],
    ['ORIGIN', 'https://%2a.test'],
    ['ORIGIN', 'https://\u{ff0a}.test'],
    ['ORIGIN', 'https://*.%2a.test'],
    ['ORIGIN', 'https://a.*.test'],
    ['ORIGIN', 'http://*:3000'],
    ['TRUST_PROXY', ' , '],
    ['TRUST_PROXY', '10.0.0.0/'],
    ['HOST', '999.1.1.1'],
    ['DATA_DIR', import.meta.filename],
    ['DATA_DIR', `${import.meta.filename}/data`],
    ['METRICS_PORT', '70000'],
    ['MAX_PENDING_RENDERS', 'lots'],
    ['MAX_OPEN_STREAMS', 'lots'],
    ['TRUST_PROXY', 'true'],
    ['TRUST_PROXY', '1'],
    ['TRUST_PROXY', '10.0.0.0/8,10.0.0.0/33'],
    ['LOG_LEVEL', 'verbose'],
    ['RENDER_TIMEOUT_MS', 'abc'],
    ['RENDER_TIMEOUT_MS', '0'],
    ['RENDER_TIMEOUT_MS', '1.5'],
    ['SHUTDOWN_GRACE_MS', '10s'],
    ['SHUTDOWN_DELAY_MS', '-5'],
    ['MAX_PENDING_RENDERS', '0'],
    ['MAX_OPEN_STREAMS', '0'],
    ['SENTRY_TRACES_SAMPLE_RATE', '2'],
    ['SENTRY_TRACES_SAMPLE_RATE', '-0.1'],
    ['SENTRY_TRACES_SAMPLE_RATE', 'all'],
    ['SENTRY_ENVIRONMENT', 'a b'],
    ['SENTRY_RELEASE', 'a b'],
    ['REPORT_TUNNEL_PATH', 'reports'],
    ['REPORT_TUNNEL_PATH', '/reports/'],
    ['REPORT_TUNNEL_PATH', '//reports'],
    ['REPORT_TUNNEL_PATH', '/healthz'],
    ['REPORT_TUNNEL_PATH', '/_m/data/x'],
    ['METRICS_PORT', 'x'],
    ['METRICS_PORT', '3000'],
    ['WORKERS', '0'],
    ['ACTION_BODY_LIMIT', '1 mib'],
    ['ACTION_BODY_LIMIT', '0'],
    ['ACTION_BODY_LIMIT', '2gb'],
    ['ACTION_BODY_LIMIT', '-1kb'],
    ['ACTION_BODY_LIMIT', '1.5mb'],
    ['REDIS_PREFIX', '{shop}:'],
  ] as const)('%s=%s', ([name, value]) => {
    const error = refusal({ [name]: value })
    expect(error?.variable).toBe(name)
    expect(error?.message).toMatch(new RegExp(`^${name}: .* is refused: .+ \\(for example ${name}=.+\\)$`))
    expect(error?.message).toContain(JSON.stringify(value.trim()))
    expect(error?.message).not.toMatch(/invalid/i)
  })

  test.for([
    ['SENTRY_DSN', 'secret-canary'],
    ['SENTRY_DSN', 'https://secret-canary@errors.test'],
    ['SENTRY_DSN', 'https://secret-canary@errors.test/project'],
    ['REDIS_URL', 'http://user:secret-canary@cache.test'],
    ['REDIS_URL', 'redis://user:secret-canary@cache.test/name'],
    ['REDIS_URL', 'secret-canary'],
    ['REDIS_URL', '://secret-canary'],
    ['REDIS_URL', 'redis://'],
    ['REDIS_URL', 'redis:///1'],
    ['SECRET_KEYS', 'secret-canary'],
  ] as const)('%s without its value', ([name, value]) => {
    const error = refusal({ [name]: value })
    expect(error?.variable).toBe(name)
    expect(error?.message).not.toContain('secret-canary')
    expect(error?.message).not.toMatch(/invalid/i)
  })

  test('a typo in a name', () => {
    expect(refusal({ MILLRACE_WORKERS: '2' })?.message).toMatch(/^MILLRACE_WORKERS: .*--help.*for example WORKERS=auto/)
    expect(refusal({ MILLRACE_TYPO: '' })?.message).toMatch(/^MILLRACE_TYPO: .*--help.*for example PORT=3000/)
  })

  test('a list that holds nothing but commas', () => {
    expect(refusal({ SECRET_KEYS: ',' })?.message).toMatch(/^SECRET_KEYS: its value is refused: is an empty list/)
  })

  test('shared stores without shared keys', () => {
    expect(refusal({ REDIS_URL: 'redis://cache.test' })?.message).toMatch(
      /^SECRET_KEYS: .*REDIS_URL.*for example SECRET_KEYS=/,
    )
  })
})

test.for(Object.values(VARIABLES))('the example of $name is a valid value', ({ name, example }) => {
  const refused = refusal({ SECRET_KEYS: 'a-long-random-text-of-32-letters', [name]: example })
  if (name === 'SECRET_KEYS') expect(refused?.message).toContain('is an example')
  else expect(refused).toBeUndefined()
})

test('the help names every variable', () => {
  const help = describeConfig()
  for (const { name, meaning } of Object.values(VARIABLES)) {
    expect(help).toContain(`  ${name} `)
    expect(help).toContain(meaning)
  }
})
