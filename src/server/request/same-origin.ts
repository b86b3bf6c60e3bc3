import { isAllowedOrigin, isOfHost } from '../../shared/origin-matching.ts'
import type { RequestContext } from './context.ts'

/** Where a call says that it comes from, and where it has arrived. */
export interface CallOrigin {
  /** The `Sec-Fetch-Site` header as it came; repeated ones joined by commas. */
  readonly secFetchSite: string | undefined
  /** The `Origin` header as it came; repeated ones joined by commas. */
  readonly origin: string | undefined
  /** Host and port of this server as the client knows them, already checked by the request guard. */
  readonly host: string
  /** How the client has reached this server. */
  readonly protocol: 'http' | 'https'
}

/** Our own page, or the visitor's own doing: no page at all. */
const OWN_SITES: ReadonlySet<string> = new Set(['same-origin', 'none'])

/**
 * Whether a call may change something, as far as its origin goes. Browsers send `Origin` with every POST and cannot be
 * made to leave it out or to forge it, so a call without both headers comes from no browser, carries nobody's cookies
 * against their will, and passes.
 *
 * `Origin: null` is refused whatever else is said: sandboxed frames send it. Without configured origins scheme and port may
 * differ from ours where `Sec-Fetch-Site: same-origin` stands beside, so that a server behind a proxy that speaks TLS works
 * unconfigured.
 * @param origins the configured public origins, the only ones that count; empty for the host of the request.
 */
export function isSameOriginCall(call: CallOrigin, origins: readonly string[]): boolean {
  const { secFetchSite, origin, host, protocol } = call
  if (secFetchSite !== undefined && !OWN_SITES.has(secFetchSite)) return false
  if (origin === undefined) return true
  if (origin === 'null') return false
  if (origins.length > 0) return isAllowedOrigin(origin, origins)
  if (secFetchSite === 'same-origin') return isOfHost(origin, host)
  // A star is no host name, and would stand for any label.
  return !host.includes('*') && isAllowedOrigin(origin, [`${protocol}://${host}`])
}

/** Whether a browser says that the page of another site calls, or what it says is not believable. */
export function isForeignCall({ req, clientAddress }: RequestContext, origins: readonly string[]): boolean {
  const { headers } = req
  const [secFetchSite, origin] = [headers['sec-fetch-site'], headers.origin]
  return !isSameOriginCall(
    {
      secFetchSite: Array.isArray(secFetchSite) ? secFetchSite.join() : secFetchSite,
      origin,
      host: clientAddress.host,
      protocol: clientAddress.protocol,
    },
    origins,
  )
}
