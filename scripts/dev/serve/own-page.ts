import type { IncomingHttpHeaders } from 'node:http'

type PageHeaders = Pick<IncomingHttpHeaders, 'host' | 'origin' | 'sec-fetch-site'>

/**
 * Whether a page of another origin has caused a request, including other ports of this machine. Browsers send
 * `Sec-Fetch-Site`, and `Origin` for WebSockets, event streams and every request whose answer a page can read. Other
 * programs send neither, and pass.
 */
export function isFromOther({ host, origin, 'sec-fetch-site': site }: PageHeaders): boolean {
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true
  return origin !== undefined && !isOrigin(origin, host)
}

/** Whether a script on a page of this server has sent a request, according to the browser. */
export function isFromOwnPage(headers: PageHeaders): boolean {
  const said = headers['sec-fetch-site'] === 'same-origin' || headers.origin !== undefined
  return said && !isFromOther(headers)
}

/** Either scheme: a proxy in front may terminate TLS. */
function isOrigin(origin: string, host = ''): boolean {
  const name = host.toLowerCase()
  return origin === `http://${name}` || origin === `https://${name}`
}
