import { isAllowedOrigin } from '../../shared/origin-matching.ts'
import type { ClientAddress } from './trusted-proxy.ts'

/** The configured origins, for matching against requests. */
interface PublicOrigins {
  /** Whether any is configured. If not, every well-formed host is accepted. */
  readonly configured: boolean
  /**
   * The configured origin that a request was sent to. The scheme is the configured one, regardless of proxies; the
   * protocol only chooses between two origins of one host.
   * @returns `undefined` if the host is not configured.
   */
  originOf(from: Pick<ClientAddress, 'host' | 'protocol'>): string | undefined
}

const DEFAULT_PORTS = { 'http:': '80', 'https:': '443' } as const

/** @param origins complete ones, or with `*.` before the host for exactly one more label. */
export function createPublicOrigins(origins: readonly string[]): PublicOrigins {
  const named = new Map<string, URL[]>()
  for (const url of origins.filter((origin) => !isManyHosts(origin)).map((origin) => new URL(origin))) {
    const port = url.port === '' ? DEFAULT_PORTS[url.protocol as keyof typeof DEFAULT_PORTS] : url.port
    // The host with its default port is the same host.
    for (const host of new Set([url.host, `${url.hostname}:${port}`]))
      named.set(host, [...(named.get(host) ?? []), url])
  }
  const patterns = origins.filter(isManyHosts)

  return {
    configured: origins.length > 0,
    originOf({ host, protocol }) {
      if (origins.length === 0) return undefined
      const ours = named.get(host.toLowerCase())
      if (ours !== undefined) return (ours.find((url) => url.protocol === `${protocol}:`) ?? ours[0])?.origin
      if (patterns.length === 0) return undefined
      const candidates = [`${protocol}://${host}`, `${protocol === 'http' ? 'https' : 'http'}://${host}`]
      const found = candidates.find((origin) => isAllowedOrigin(origin, patterns))
      return found === undefined ? undefined : new URL(found).origin
    },
  }
}

/** The start of absolute URLs: the first origin without a wildcard. */
export function mainOrigin(origins: readonly string[]): string | undefined {
  return origins.find((origin) => !isManyHosts(origin))
}

/** A host that the configuration accepts, for requests to ourselves. */
export function someHost(origins: readonly string[]): string | undefined {
  const origin = mainOrigin(origins) ?? origins[0]
  return origin === undefined ? undefined : new URL(origin.replace('*.', 'self.')).host
}

function isManyHosts(origin: string): boolean {
  return origin.includes('*')
}
