import type { HydrationState } from '../../../shared/protocol/hydration-data.ts'
import type { RouteTable } from '../../../shared/route-table.ts'
import type { Screen } from '../../react/router-types.ts'
import type { KnownRoutes } from './known-routes.ts'
import { withoutHash } from './local-href.ts'
import { dataIds } from './route-plan.ts'

/**
 * Puts the document's data into the cache, as if it had been fetched.
 * @param first the document's page.
 * @returns cache keys of its segments; empty for a fallback.
 */
export function seedCache(
  known: KnownRoutes,
  table: Pick<RouteTable, 'routes'>,
  state: HydrationState,
  first: Screen,
): readonly string[] {
  const { route: key, params, meta = {}, scope = 'path', outcome, at } = state
  const { data, search } = first.view
  const href = withoutHash(first.href)
  const route = table.routes.find((one) => one.key === key)
  if (route === undefined || outcome !== undefined) return []
  known.keepAnswer(href, { route: route.key, params, scope, at })
  const keys = dataIds(route).map((id) => {
    known.note(href, params, { segment: id, ...meta[id] }, at)
    const cacheKey = known.keyOf(id, href, params)
    const values = { data: data[id], ...(id.endsWith('#page') && { search }) }
    // JSON cannot measure values that it cannot represent; one document's data may exceed the bound.
    const size = JSON.stringify(state.values ? values : 0).length
    known.keepSegment(id, href, cacheKey, { ...meta[id], values, size })
    return cacheKey
  })
  known.shown(keys, href)
  return keys
}
