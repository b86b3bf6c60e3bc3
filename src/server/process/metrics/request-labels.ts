import { ROUTE_DATA_PREFIX } from '../../../shared/protocol/route-data.ts'
import { kindOf, type KindFacts, type RequestKind } from '../../request/request-kind.ts'

/** Labels of a request. No value comes from a visitor, so their number is bounded by the patterns of the route table. */
export interface RequestLabels {
  /** Pattern of the route, the runtime's own URL, `proxy` for external rewrites, `none` if nothing matched. */
  readonly route: string
  readonly kind: RequestKind
  /** One of the usual methods, or `other`. */
  readonly method: string
  /** `2xx`, or `none` if the client disconnected before an answer began. */
  readonly status: string
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Labels a finished request. */
export function labelsOf(
  context: KindFacts,
  { route, method, status }: { readonly route: string | null; readonly method: string; readonly status: number },
): RequestLabels {
  return {
    route: routeLabel(route),
    kind: kindOf(context),
    method: METHODS.has(method) ? method : 'other',
    status: status === 0 ? 'none' : `${Math.floor(status / 100)}xx`,
  }
}

/** Data of a page counts under the page's route; `kind` tells them apart. */
function routeLabel(route: string | null): string {
  if (route === null) return 'none'
  if (route.startsWith('->')) return 'proxy'
  return route.startsWith(`${ROUTE_DATA_PREFIX}/`) && route !== `${ROUTE_DATA_PREFIX}/*`
    ? route.slice(ROUTE_DATA_PREFIX.length)
    : route
}
