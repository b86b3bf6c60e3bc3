import type { z } from 'zod'
import { defaultPendingRenders, normalOrigin, VARIABLES, type LogLevel, type Variable } from './config-variables.ts'
import { derivedTunnelPath } from './tunnel-path.ts'
import type { ProxyTrust } from '../http/trusted-proxy.ts'

/** The configuration of one server process; frozen. `docs/configuration.md` describes it. */
export interface Config {
  /** TCP port; 0 picks a free one. */
  readonly port: number
  /** Address to listen on. */
  readonly host: string
  /** Public origins as browsers see them (`https://example.com`); empty if unset. */
  readonly origins: readonly string[]
  /** Which peers' `X-Forwarded-*` are trusted. */
  readonly trustProxy: ProxyTrust
  /** pino level. */
  readonly logLevel: LogLevel
  /** Absolute path of the folder for embedded stores; created by the first write. */
  readonly dataDir: string
  /** Absolute path of a folder in which instances share files of former builds; `undefined` if unset. */
  readonly assetsDir: string | undefined
  /** Days for which files of former builds are kept. */
  readonly keepAssetsDays: number
  /** Texts of at least 16 characters: the first signs and encrypts, all verify and decrypt. Empty if unset. */
  readonly secretKeys: readonly string[]
  /** Maximum bytes of the body of an action call without an upload, and of a request to a handler. */
  readonly actionBodyLimit: number
  /** Milliseconds after which a render that has not finished is aborted. */
  readonly renderTimeoutMs: number
  /** Milliseconds from SIGTERM to the last forced close. */
  readonly shutdownGraceMs: number
  /** Milliseconds during which `/readyz` already fails while requests are still served. */
  readonly shutdownDelayMs: number
  /** Maximum documents in progress in one process; more get 503. */
  readonly maxPendingRenders: number
  /** Maximum answers of resource routes in progress in one process, event streams included. */
  readonly maxOpenStreams: number
  /** DSN of the error service; `''` for the embedded inbox. */
  readonly sentryDsn: string
  /** Names this deployment in reports. */
  readonly sentryEnvironment: string
  /** Names this release in reports; `''` for the build id. */
  readonly sentryRelease: string
  /** Share of requests that are traced, 0 to 1. */
  readonly sentryTracesSampleRate: number
  /** Path on this site to which browsers send their reports. */
  readonly reportTunnelPath: string
  /** `redis:` or `rediss:` URL of the store that instances share, including its password; `''` for none. */
  readonly redisUrl: string
  /** Name that keeps this application's keys apart in a shared Redis; `''` for the name of its package. */
  readonly redisPrefix: string
  /** TCP port of `/metrics`, 0 for a free one; `undefined` to measure nothing. */
  readonly metricsPort: number | undefined
  /** Number of processes that share the port; 1 means this process alone. */
  readonly workers: number
}

/** An environment value with which the server cannot start; its message is one readable line. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  /** Name of the faulty variable. */
  readonly variable: string

  constructor(variable: string, fault: string) {
    super(`${variable}: ${fault}`)
    this.variable = variable
  }
}

/**
 * Reads the environment once.
 * @throws {ConfigError} for the first invalid value, and for any `MILLRACE_*` variable, because none exists and it must
 * be a typo.
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  for (const name of Object.keys(environment)) {
    if (name.startsWith('MILLRACE_')) {
      throw new ConfigError(name, unknownName(name))
    }
  }
  const read = <Key extends keyof typeof VARIABLES>(key: Key): z.output<(typeof VARIABLES)[Key]['schema']> =>
    parse(VARIABLES[key], environment) as never
  const redisUrl = read('redisUrl')
  if (redisUrl !== '' && !environment['SECRET_KEYS']?.trim()) {
    throw new ConfigError(
      'SECRET_KEYS',
      `must be set together with REDIS_URL, so that all instances share the keys (for example SECRET_KEYS=${VARIABLES.secretKeys.example})`,
    )
  }
  const sentryDsn = read('sentryDsn')
  const [port, metricsPort, workers] = [read('port'), read('metricsPort'), read('workers')]
  if (metricsPort === port && port !== 0) {
    throw new ConfigError(
      'METRICS_PORT',
      `"${port}" is refused: it is the PORT of the site, and metrics need one of their own (for example METRICS_PORT=9464)`,
    )
  }
  return Object.freeze({
    port,
    host: read('host'),
    origins: read('origins').map(normalOrigin),
    trustProxy: read('trustProxy'),
    logLevel: read('logLevel'),
    dataDir: read('dataDir'),
    assetsDir: read('assetsDir'),
    keepAssetsDays: read('keepAssetsDays'),
    secretKeys: read('secretKeys'),
    actionBodyLimit: read('actionBodyLimit'),
    renderTimeoutMs: read('renderTimeoutMs'),
    shutdownGraceMs: read('shutdownGraceMs'),
    shutdownDelayMs: read('shutdownDelayMs'),
    sentryDsn,
    sentryEnvironment: read('sentryEnvironment'),
    sentryRelease: read('sentryRelease'),
    sentryTracesSampleRate: read('sentryTracesSampleRate'),
    reportTunnelPath: read('reportTunnelPath') || derivedTunnelPath(sentryDsn),
    maxPendingRenders: read('maxPendingRenders') ?? defaultPendingRenders(workers),
    maxOpenStreams: read('maxOpenStreams'),
    redisUrl,
    redisPrefix: read('redisPrefix'),
    metricsPort,
    workers,
  })
}

/** `MILLRACE_PORT` most likely means `PORT`. */
function unknownName(name: string): string {
  const meant = Object.values<Variable>(VARIABLES).find((variable) => name === `MILLRACE_${variable.name}`)
  const { name: known, example } = meant ?? VARIABLES.port
  return `is not a variable of this server; run \`npm start -- --help\` for all of them (for example ${known}=${example})`
}

/**
 * Reads `KEEP_ASSETS_DAYS`, the only variable that builds use.
 * @throws {ConfigError} for an invalid value.
 */
export function readKeepAssetsDays(environment: Readonly<Record<string, string | undefined>>): number {
  return parse(VARIABLES.keepAssetsDays, environment) as number
}

function parse(
  { name, fallback, example, schema, secret }: Variable,
  environment: Readonly<Record<string, string | undefined>>,
): unknown {
  const given = environment[name]?.trim() || fallback
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  const fault = parsed.error.issues[0]?.message ?? 'is not valid'
  const shown = secret === true ? 'its value' : JSON.stringify(given)
  throw new ConfigError(name, `${shown} is refused: ${fault} (for example ${name}=${example})`)
}

/** All variables with meaning and default: the output of `npm start -- --help`. */
export function describeConfig(): string {
  const all = Object.values<Variable>(VARIABLES)
  const width = Math.max(...all.map(({ name }) => name.length))
  const line = ({ name, fallback, meaning }: Variable): string =>
    `  ${name.padEnd(width)}  ${(fallback || 'unset').padEnd(10)}  ${meaning}`
  return ['Configuration, read from the environment:', '', ...all.map(line)].join('\n')
}
