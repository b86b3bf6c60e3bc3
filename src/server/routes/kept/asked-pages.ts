import { parseSearch } from '../../http/search-params.ts'
import { isSecure, siteOf } from '../../http/trusted-proxy.ts'
import type { Route } from '../../../shared/route-table.ts'
import type { RequestContext } from '../../request/context.ts'
import { variantsOf } from '../../request/variants.ts'
import type { AskedDocument } from '../../stores/cache/document-names.ts'
import type { MatchedRoute } from '../decide/decision.ts'

/** A page without params, as it was asked for last. */
interface LastAsked {
  readonly host: string
  readonly secure: boolean
  readonly pathname: string
  readonly asked: AskedDocument
}

/** What a request asks for. Nothing of a raw header: the host is one of `ORIGIN`, or a valid one. */
export function askedPage({ route, params, search }: MatchedRoute, context: RequestContext): AskedDocument {
  const { clientAddress, pathname, services } = context
  const of = route.definition.variants
  const variants = of && variantsOf(of, context).values
  const secure = isSecure(clientAddress)
  return {
    page: JSON.stringify([
      siteOf(context.clientAddress),
      secure,
      route.key,
      pathname,
      params,
      variants,
      services.site?.publicEnvHash,
    ]),
    variants,
    search: parseSearch(search),
    queries: [context.search, search],
  }
}

/** As `askedPage`; remembers the last answer for each page without params, because most requests for it are alike. */
export function createAskedPages(): typeof askedPage {
  /** Bound: one for each route. */
  const last = new Map<Route, LastAsked>()

  return (page, context) => {
    const { route, search } = page
    const { pathname } = context
    if (route.dynamic || route.definition.variants !== undefined) return askedPage(page, context)
    const host = siteOf(context.clientAddress)
    const secure = isSecure(context.clientAddress)
    const before = last.get(route)
    if (before?.host === host && before.secure === secure && before.pathname === pathname) {
      const [sent, rewritten] = before.asked.queries
      if (sent === context.search && rewritten === search) return before.asked
    }
    const asked = askedPage(page, context)
    last.set(route, { host, secure, pathname, asked })
    return asked
  }
}
