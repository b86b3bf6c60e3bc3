import { isAllowedOrigin, isOfHost } from '../../shared/origin-matching.ts'
import type { RequestContext } from './context.ts'

/** The claimed origin of a call, and the host that it reached. */
interface CallOrigin {
  /** The `Sec-Fetch-Site` header as received; repeated ones joined by commas. */
  readonly secFetchSite: string | undefined
  /** The `Origin` header as received; repeated ones joined by commas. */
  readonly origin: string | undefined
  /** Host and port of this server as the client knows them, already checked by the request guard. */
  readonly host: string
  /** The client's protocol. */
  readonly protocol: 'http' | 'https'
}

/** Our own page, or the visitor without any page. */
const OWN_SITES: ReadonlySet<string> = new Set(['same-origin', 'none'])

/**
 * Whether the origin of a call allows it to change something. Browsers send `Origin` with every POST, and pages cannot
 * remove or forge it, so a call without both headers is not from a browser, uses nobody's cookies against their will,
 * and passes.
 *
 * `Origin: null` counts as ours only with `Sec-Fetch-Site: same-origin`: a page whose `Referrer-Policy` is `no-referrer`
 * sends both, and a sandboxed frame sends `cross-site`. Without configured origins, scheme and port may differ from ours
 * if `Sec-Fetch-Site: same-origin` is present, so that a server behind a TLS proxy works unconfigured.
 * @param origins the configured public origins; of these, only those of the request's host count. Empty for the host of
 * the request.
 */
export function isSameOriginCall(call: CallOrigin, origins: readonly string[]): boolean {
  const { secFetchSite, origin, host, protocol } = call
  if (secFetchSite !== undefined && !OWN_SITES.has(secFetchSite)) return false
  if (origin === undefined) return true
  if (origin === 'null') return secFetchSite === 'same-origin'
  // Sites that share a server do not call each other's actions: their visitors may be signed in to both.
  if (origins.length > 0) return isAllowedOrigin(origin, origins) && isAllowedOrigin(origin, originsOf(host))
  if (secFetchSite === 'same-origin') return isOfHost(origin, host)
  // A star is not a host name, and would match any label.
  return !host.includes('*') && isAllowedOrigin(origin, [`${protocol}://${host}`])
}

/** A proxy may have changed the scheme. */
function originsOf(host: string): string[] {
  return host.includes('*') ? [] : [`http://${host}`, `https://${host}`]
}

/** Whether a page of another site calls, or the headers contradict each other. */
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
