import type { RequestContext } from '../../request/context.ts'

/** What the service may know of the client's browser, and where the page stands. */
const PASSED_ON = /^(?:user-agent|origin|referer|sec-ch-ua(?:-[a-z-]{1,30})?)$/
/** Longer ones are no browser's. */
const MOST_CHARACTERS = 2_048

/**
 * The headers that go along with an envelope to the service: these and no others. The address is the one that the chain
 * of trusted proxies gives; what the client claims of itself in such headers is not passed on.
 */
export function senderHeaders({ req, clientAddress }: RequestContext): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(req.headers)) {
    if (typeof value !== 'string' || value.length > MOST_CHARACTERS || !PASSED_ON.test(name)) continue
    // Of the page, not what is asked for on it: browsers name the whole address to the site that it is of.
    headers[name] = name === 'referer' ? value.replace(/[?#].*/s, '') : value
  }
  if (clientAddress.address !== '') headers['x-sentry-forwarded-for'] = clientAddress.address
  return headers
}
