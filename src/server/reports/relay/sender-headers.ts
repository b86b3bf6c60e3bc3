import type { RequestContext } from '../../request/context.ts'

/** Facts about the browser and the page that the service may see. */
const PASSED_ON = /^(?:user-agent|origin|referer|sec-ch-ua(?:-[a-z-]{1,30})?)$/
/** Browsers send no longer ones. */
const MOST_CHARACTERS = 2_048

/**
 * The headers to send to the service with an envelope, and no others. The address is the one that the chain of trusted
 * proxies gives; the client's own claims about it are dropped.
 */
export function senderHeaders({ req, clientAddress }: RequestContext): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(req.headers)) {
    if (typeof value !== 'string' || value.length > MOST_CHARACTERS || !PASSED_ON.test(name)) continue
    // Only the page's path: browsers send its own site the whole address, with the query.
    headers[name] = name === 'referer' ? value.replace(/[?#].*/s, '') : value
  }
  if (clientAddress.address !== '') headers['x-sentry-forwarded-for'] = clientAddress.address
  return headers
}
