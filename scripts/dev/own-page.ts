import type { IncomingHttpHeaders } from 'node:http'

type PageHeaders = Pick<IncomingHttpHeaders, 'host' | 'origin' | 'sec-fetch-site'>

/**
 * Whether a page of another origin has caused a request, also one of this machine at another port. Browsers say so by
 * `Sec-Fetch-Site`, and by `Origin` for WebSockets, event streams and whatever else reads an answer. A program says
 * neither, and passes.
 */
export function isFromOther({ host, origin, 'sec-fetch-site': site }: PageHeaders): boolean {
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true
  return origin !== undefined && !isOrigin(origin, host)
}

/** Whether a script of a page of this server has sent a request, by what the browser says. */
export function isFromOwnPage(headers: PageHeaders): boolean {
  const said = headers['sec-fetch-site'] === 'same-origin' || headers.origin !== undefined
  return said && !isFromOther(headers)
}

/** Either scheme: something before this server may end TLS. */
function isOrigin(origin: string, host = ''): boolean {
  const name = host.toLowerCase()
  return origin === `http://${name}` || origin === `https://${name}`
}
