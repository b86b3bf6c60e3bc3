import { ROUTE_DATA_PREFIX } from '../../../shared/protocol/route-data.ts'
import type { RequestRecord } from '../../request/request-record.ts'

/** Labels of a request. No value comes from a visitor, so their number is bounded by the patterns of the route table. */
interface RequestLabels {
  /** Pattern of the route, the runtime's own URL, `proxy` for external rewrites, `none` if nothing matched. */
  readonly route: string
  readonly kind: RequestRecord['kind']
  /** One of the usual methods, or `other`. */
  readonly method: string
  /** `2xx`, or `none` if the client disconnected before an answer began. */
  readonly status: string
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Labels a finished request. */
export function labelsOf({
  route,
  kind,
  method,
  status,
}: Pick<RequestRecord, 'route' | 'kind' | 'method' | 'status'>): RequestLabels {
  return {
    route: routeLabel(route),
    kind,
    method: methodLabel(method),
    status: status === 0 ? 'none' : `${Math.floor(status / 100)}xx`,
  }
}

/** One of the usual methods, or `other`. */
export function methodLabel(method: string): string {
  return METHODS.has(method) ? method : 'other'
}

/** Data of a page counts under the page's route; `kind` tells them apart. */
export function routeLabel(route: string | undefined): string {
  if (route === undefined) return 'none'
  if (route.startsWith('->')) return 'proxy'
  return route.startsWith(`${ROUTE_DATA_PREFIX}/`) && route !== `${ROUTE_DATA_PREFIX}/*`
    ? route.slice(ROUTE_DATA_PREFIX.length)
    : route
}
