/**
 * The origins whose pages may call actions. A list entry is a complete origin, `https://shop.example:8443`, or has a
 * wildcard for exactly one more label, `https://*.example.com`. Any other form matches nothing.
 */

const ORIGIN = /^(https?):\/\/((?:[0-9a-z_-]+\.)*[0-9a-z_-]+|\[[0-9a-f:.]+\])(?::(0|[1-9]\d{0,4}))?$/
const ONE_MORE_LABEL = /^(https?:\/\/)\*\./
const DEFAULT_PORTS: Readonly<Record<string, string>> = { http: '80', https: '443' }

interface Origin {
  readonly scheme: string
  readonly host: string
  readonly port: string
}

/**
 * Whether an `Origin` header names one of the listed origins. Hosts are compared without case, a default port equals
 * none. `null` is refused even if listed: any sandboxed page sends it.
 * @param origin the header as received.
 * @param allowed the configured list.
 */
export function isAllowedOrigin(origin: string, allowed: readonly string[]): boolean {
  const asked = readOrigin(origin)
  return asked !== undefined && allowed.some((entry) => entryAllows(entry, asked))
}

/**
 * Whether an `Origin` header has a host, ignoring scheme and port, which a TLS proxy may change.
 * @param origin the header as received.
 * @param host as in a `Host` header.
 */
export function isOfHost(origin: string, host: string): boolean {
  const asked = readOrigin(origin)
  return asked !== undefined && asked.host === readOrigin(`http://${host}`)?.host
}

function entryAllows(entry: string, asked: Origin): boolean {
  const manyHosts = ONE_MORE_LABEL.test(entry)
  const listed = readOrigin(entry.replace(ONE_MORE_LABEL, '$1'))
  if (listed === undefined || listed.scheme !== asked.scheme || listed.port !== asked.port) return false
  if (!manyHosts) return listed.host === asked.host
  const firstDot = asked.host.indexOf('.')
  return firstDot > 0 && asked.host.slice(firstDot + 1) === listed.host
}

function readOrigin(text: string): Origin | undefined {
  const [, scheme, host, port] = ORIGIN.exec(text.toLowerCase()) ?? []
  if (scheme === undefined || host === undefined) return undefined
  return { scheme, host, port: port ?? DEFAULT_PORTS[scheme] ?? '' }
}
