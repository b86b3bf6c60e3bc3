import { statSync } from 'node:fs'
import { isIP } from 'node:net'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { z } from 'zod'
import { parseDsn } from './dsn.ts'
import { isTunnelPath } from './tunnel-path.ts'
import { isValidHost } from '../http/request-target.ts'
import { parseProxyTrust } from '../http/trusted-proxy.ts'

/** Levels pino knows. */
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
/** One of `LOG_LEVELS`. */
export type LogLevel = (typeof LOG_LEVELS)[number]

/** One environment variable. */
export interface Variable {
  readonly name: string
  readonly fallback: string
  readonly meaning: string
  readonly example: string
  readonly schema: z.ZodType<unknown, string>
  /** Whether messages must never repeat its value. */
  readonly secret?: boolean
}

const wholeNumber = (least: number, most: number): z.ZodType<number, string> =>
  z
    .string()
    .regex(/^\d{1,12}$/, `expected a whole number from ${least} to ${most}`)
    .transform(Number)
    .refine((value) => value >= least && value <= most, `expected a whole number from ${least} to ${most}`)

/**
 * A render keeps a core busy or waits for data; with more of them per core, queueing only makes every visitor slower.
 */
const PENDING_RENDERS_PER_CORE = 128

/** Places in each of `workers` processes if `MAX_PENDING_RENDERS` is unset. */
export function defaultPendingRenders(workers: number): number {
  return PENDING_RENDERS_PER_CORE * Math.max(1, Math.floor(availableParallelism() / workers))
}

/** Keys are not stretched, so their length is their strength: 16 characters of base64 are 96 bits. */
const LEAST_KEY_CHARACTERS = 16
const EXAMPLE_KEY = 'output-of-openssl-rand-base64-32'

/**
 * Whether a key may be a secret: not our example, and not what a shell should have replaced. Files of systemd and Docker
 * are read by no shell: they would start with the text `$(openssl rand -base64 32)`, which everybody knows.
 */
function isOwnKey(key: string): boolean {
  return key !== EXAMPLE_KEY && !/\$[({]|`|^(["']).*\1$/.test(key)
}

/** Bodies other than uploads are held in memory. */
const MOST_BODY_BYTES = 1024 ** 3

const UNITS: Readonly<Record<string, number>> = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 }

const bytes = (text: string): number => {
  const [, digits = '', unit = ''] = /^(\d+)([a-z]*)$/.exec(text.toLowerCase()) ?? []
  return Number(digits) * (UNITS[unit || 'b'] ?? Number.NaN)
}

const list = (text: string): string[] =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')

/** A value of only commas would count as unset, which nobody intends. */
function listOfSome(text: string, context: z.RefinementCtx): string[] {
  const entries = list(text)
  if (entries.length === 0 && text !== '') context.addIssue({ code: 'custom', message: 'is an empty list' })
  return entries
}

/** An optional number. */
const optional = (schema: z.ZodType<number, string>): z.ZodType<number | undefined, string> =>
  z.string().transform((text, context) => {
    if (text === '') return undefined
    const parsed = schema.safeParse(text)
    if (!parsed.success)
      context.addIssue({ code: 'custom', message: parsed.error.issues[0]?.message ?? 'is not a number' })
    return parsed.data
  })

/** All variables, in their order of use. */
export const VARIABLES = {
  port: {
    name: 'PORT',
    fallback: '3000',
    meaning: 'port to listen on; 0 picks a free one and prints it',
    example: '3000',
    schema: wholeNumber(0, 65_535),
  },
  host: {
    name: 'HOST',
    fallback: '0.0.0.0',
    meaning: 'address to listen on',
    example: '127.0.0.1',
    schema: z
      .string()
      .refine(
        (text) => isIP(text) !== 0 || (isValidHost(text) && !/:|^[\d.]+$/.test(text)),
        'expected an address or a host name',
      ),
  },
  origins: {
    name: 'ORIGIN',
    fallback: '',
    meaning: 'public origin(s), comma-separated; if set, any other Host gets 400',
    example: 'https://example.com',
    schema: z
      .string()
      .transform(listOfSome)
      .refine((entries) => entries.every(isOrigin), 'expected scheme and host only, comma-separated'),
  },
  trustProxy: {
    name: 'TRUST_PROXY',
    fallback: '',
    meaning: 'CIDR list of proxies whose X-Forwarded-* are trusted',
    example: '10.0.0.0/8,::1',
    schema: z.string().transform((text, context) => {
      try {
        return parseProxyTrust(listOfSome(text, context))
      } catch (error) {
        context.addIssue({
          code: 'custom',
          message: error instanceof RangeError ? error.message : 'is not a CIDR list',
        })
        return z.NEVER
      }
    }),
  },
  logLevel: {
    name: 'LOG_LEVEL',
    fallback: 'info',
    meaning: `pino level: ${LOG_LEVELS.join(', ')}`,
    example: 'info',
    schema: z.enum(LOG_LEVELS, `expected one of ${LOG_LEVELS.join(', ')}`) as z.ZodType<LogLevel, string>,
  },
  dataDir: {
    name: 'DATA_DIR',
    fallback: './data',
    meaning: 'folder of the embedded stores and of generated secret keys',
    example: './data',
    schema: z
      .string()
      .refine((text) => !text.includes('\0') && !isFile(text), 'expected a folder, and this is a file')
      .transform((text) => resolve(text)),
  },
  assetsDir: {
    name: 'ASSETS_DIR',
    fallback: '',
    meaning: 'folder that instances share for the files of former builds',
    example: '/assets',
    schema: z
      .string()
      .refine((text) => !text.includes('\0'), 'expected a folder')
      .transform((text) => (text === '' ? undefined : resolve(text))),
  },
  keepAssetsDays: {
    name: 'KEEP_ASSETS_DAYS',
    fallback: '7',
    meaning: 'how long the files of a former build are kept; 0 keeps none (days)',
    example: '7',
    schema: wholeNumber(0, 365),
  },
  secretKeys: {
    name: 'SECRET_KEYS',
    fallback: '',
    meaning:
      'comma-separated keys; the first signs, the others still verify (default: generated once, kept in DATA_DIR)',
    example: EXAMPLE_KEY,
    schema: z
      .string()
      .transform(listOfSome)
      .refine(
        (keys) => keys.every((key) => key.length >= LEAST_KEY_CHARACTERS),
        `expected at least ${LEAST_KEY_CHARACTERS} characters a key, for example from \`openssl rand -base64 32\``,
      )
      .refine(
        (keys) => keys.every(isOwnKey),
        'is an example, in quotes, or a command that no shell has run: expected the output of `openssl rand -base64 32`',
      ),
    secret: true,
  },
  actionBodyLimit: {
    name: 'ACTION_BODY_LIMIT',
    fallback: '1mb',
    meaning:
      'largest body of a handler, or of an action call without an upload, in bytes or with kb, mb or gb (1kb is 1024 bytes)',
    example: '1mb',
    schema: z
      .string()
      .regex(/^\d{1,12}(b|kb|mb|gb)?$/i, 'expected bytes, or a number with kb, mb or gb')
      .transform(bytes)
      .refine((size) => size >= 1 && size <= MOST_BODY_BYTES, 'expected 1 byte to 1gb'),
  },
  renderTimeoutMs: {
    name: 'RENDER_TIMEOUT_MS',
    fallback: '10000',
    meaning: 'a render that takes longer is aborted (ms)',
    example: '10000',
    schema: wholeNumber(1, 3_600_000),
  },
  shutdownGraceMs: {
    name: 'SHUTDOWN_GRACE_MS',
    fallback: '10000',
    meaning: 'time from SIGTERM until all connections are closed by force (ms)',
    example: '10000',
    schema: wholeNumber(0, 3_600_000),
  },
  shutdownDelayMs: {
    name: 'SHUTDOWN_DELAY_MS',
    fallback: '0',
    meaning: 'time after SIGTERM in which /readyz fails and requests are still served (ms)',
    example: '5000',
    schema: wholeNumber(0, 3_600_000),
  },
  maxPendingRenders: {
    name: 'MAX_PENDING_RENDERS',
    fallback: '',
    meaning: `most documents in progress in one process; more get 503 (default: ${PENDING_RENDERS_PER_CORE} per core)`,
    example: '256',
    schema: optional(wholeNumber(1, 1_000_000)),
  },
  maxOpenStreams: {
    name: 'MAX_OPEN_STREAMS',
    fallback: '2000',
    meaning: 'answers of resource routes and of other origins in progress in one process; more get 503',
    example: '2000',
    schema: wholeNumber(1, 1_000_000),
  },
  sentryDsn: {
    name: 'SENTRY_DSN',
    fallback: '',
    meaning: 'project of the error service (default: reports stay in the embedded inbox of this server)',
    example: 'https://key@errors.example.com/1',
    schema: z.string().refine((text) => text === '' || parseDsn(text) !== undefined, 'expected the DSN of a project'),
    secret: true,
  },
  sentryEnvironment: {
    name: 'SENTRY_ENVIRONMENT',
    fallback: 'production',
    meaning: 'names this deployment to the error service',
    example: 'staging',
    schema: z.string().regex(/^[^\s/]{1,64}$/, 'expected 1 to 64 characters without spaces and slashes'),
  },
  sentryRelease: {
    name: 'SENTRY_RELEASE',
    fallback: '',
    meaning: 'names this release to the error service (default: the build id)',
    example: '1.2.3',
    schema: z.string().regex(/^[^\s/\\]{0,200}$/, 'expected at most 200 characters without spaces and slashes'),
  },
  sentryTracesSampleRate: {
    name: 'SENTRY_TRACES_SAMPLE_RATE',
    fallback: '0',
    meaning: 'share of requests that are traced, 0 to 1',
    example: '0.05',
    schema: z
      .string()
      .regex(/^\d*\.?\d+$/, 'expected a number from 0 to 1')
      .transform(Number)
      .refine((rate) => rate <= 1, 'expected a number from 0 to 1'),
  },
  reportTunnelPath: {
    name: 'REPORT_TUNNEL_PATH',
    fallback: '',
    meaning: 'same-origin path of the relay (default: derived from the DSN)',
    example: '/reports',
    schema: z
      .string()
      .regex(/^(?:(?:\/[\w-]+)+)?$/, 'expected a path of letters, digits, _, - and /, without a slash at its end')
      .refine((path) => isTunnelPath(path), 'expected a path that the runtime does not answer itself'),
  },
  redisUrl: {
    name: 'REDIS_URL',
    fallback: '',
    meaning: 'Redis or Valkey that instances share (default: SQLite in DATA_DIR, for this instance only)',
    example: 'redis://localhost:6379',
    schema: z
      .string()
      .refine((text) => text === '' || /^rediss?:$/.test(URL.parse(text)?.protocol ?? ''), {
        error: 'expected a redis:// or rediss:// URL',
        abort: true,
      })
      .refine((text) => text === '' || new URL(text).hostname !== '', 'names no host')
      .refine(
        (text) => text === '' || /^\/?\d*$/.test(new URL(text).pathname),
        'expected only a number after the host',
      ),
    secret: true,
  },
  redisPrefix: {
    name: 'REDIS_PREFIX',
    fallback: '',
    meaning: "name of this application's keys in Redis (default: the name in its package.json)",
    example: 'shop-staging',
    schema: z.string().regex(/^[\w.@/-]{0,64}$/, 'expected at most 64 letters, digits, _ . @ / -'),
  },
  metricsPort: {
    name: 'METRICS_PORT',
    fallback: '',
    meaning: 'separate port of /metrics; 0 picks a free one and logs it',
    example: '9464',
    schema: optional(wholeNumber(0, 65_535)),
  },
  workers: {
    name: 'WORKERS',
    fallback: '1',
    meaning: 'processes sharing the port; auto means one per core',
    example: 'auto',
    schema: z.union(
      [z.literal('auto').transform(() => availableParallelism()), wholeNumber(1, 1_024)],
      'expected "auto" or a whole number from 1 to 1024',
    ),
  },
} as const satisfies Record<string, Variable>

/** True also for a path that leads through a file. A missing path can become a folder. */
function isFile(path: string): boolean {
  try {
    return !statSync(path).isDirectory()
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOTDIR'
  }
}

function isOrigin(text: string): boolean {
  // A star is exactly one label, at the start; elsewhere it would silently match nothing.
  if (text.includes('*') && !/^https?:\/\/\*\.[^*]+$/i.test(text)) return false
  const url = URL.canParse(text) ? new URL(text) : undefined
  // The parser makes stars of `%2a` and of other characters, too.
  if (url?.host.split('*').length !== text.split('*').length) return false
  return (
    url !== undefined && /^https?:$/.test(url.protocol) && normalOrigin(text) === url.origin && !/[?#]|\/$/.test(text)
  )
}

/** An origin as browsers write it; `''` for a URL with a path, a query or credentials. */
export function normalOrigin(text: string): string {
  const url = new URL(text)
  return url.pathname === '/' && url.search === '' && url.username === '' && url.password === '' ? url.origin : ''
}
