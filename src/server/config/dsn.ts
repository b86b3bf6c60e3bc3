/** The address of a project at an error service: `https://<key>@<host>[:<port>][/<path>]/<project>`. */
export interface Dsn {
  readonly protocol: 'http' | 'https'
  /** In lower case; IPv6 addresses in brackets. */
  readonly host: string
  /** `''` for the protocol's default. */
  readonly port: string
  /** The path before the project: `''`, or with a slash before each segment. */
  readonly path: string
  /** Digits. */
  readonly projectId: string
  readonly publicKey: string
}

/** The browser's SDK needs a DSN even without a service; the relay then accepts this one. */
export const INBOX_DSN = 'https://inbox@inbox.invalid/1'

const KEY = /^\w{1,128}$/
const PROJECT = /^\d{1,20}$/
const PATH = /^(?:\/[\w.~-]+)*$/

/**
 * Parses a DSN. A secret after the key, which services no longer require, is dropped.
 * @returns `undefined` for an invalid DSN.
 */
export function parseDsn(text: string): Dsn | undefined {
  if (text.length > 1_024 || !URL.canParse(text)) return undefined
  const url = new URL(text)
  const protocol = url.protocol === 'https:' ? 'https' : url.protocol === 'http:' ? 'http' : undefined
  const slash = url.pathname.lastIndexOf('/')
  const path = url.pathname.slice(0, Math.max(slash, 0))
  const projectId = url.pathname.slice(slash + 1)
  const wellFormed = KEY.test(url.username) && PROJECT.test(projectId) && PATH.test(path)
  if (protocol === undefined || !wellFormed || url.hostname === '' || /[?#]/.test(text)) return undefined
  return { protocol, host: url.hostname, port: url.port, path, projectId, publicKey: url.username }
}

/** Whether two DSNs have the same service, project and key. */
export function isSameDsn(one: Dsn, other: Dsn): boolean {
  return dsnText(one) === dsnText(other)
}

/** Formats a DSN as SDKs do, without a secret. */
export function dsnText({ protocol, host, port, path, projectId, publicKey }: Dsn): string {
  return `${protocol}://${publicKey}@${host}${port === '' ? '' : `:${port}`}${path}/${projectId}`
}

/** The URL at which the service of a DSN accepts envelopes. */
export function envelopeUrl({ protocol, host, port, path, projectId }: Dsn): URL {
  return new URL(`${protocol}://${host}${port === '' ? '' : `:${port}`}${path}/api/${projectId}/envelope/`)
}
