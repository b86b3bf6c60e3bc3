import type { HydrationState } from '../../../shared/protocol/hydration-data.ts'
import type { SegmentMeta } from '../../../shared/protocol/route-data.ts'
import type { RouteTable } from '../../../shared/route-table.ts'
import type { Screen } from '../../react/router-types.ts'
import type { KnownRoutes } from './known-routes.ts'
import { withoutHash } from './local-href.ts'
import { dataIds } from './route-plan.ts'

/**
 * Puts the document's data into the cache, as if it had been fetched.
 * @param first the document's page.
 * @param late facts about the page whose data has arrived after the others.
 * @returns cache keys of its segments; empty for a fallback.
 */
export function seedCache(
  { known, table }: { readonly known: KnownRoutes; readonly table: Pick<RouteTable, 'routes'> },
  state: HydrationState,
  first: Screen,
  late?: SegmentMeta,
): readonly string[] {
  const { route: key, params, meta = {}, scope = 'path', outcome, at } = state
  const { data, search } = first.view
  const href = withoutHash(first.href)
  const route = table.routes.find((one) => one.key === key)
  if (!route || outcome) return []
  known.keepAnswer(href, { route: route.key, params, scope, at })
  const keys = dataIds(route).map((id) => {
    // Until its facts are known, any drop concerns it.
    if (!late !== data[id] instanceof Promise) {
      const facts = late ?? meta[id]
      known.note(href, params, { segment: id, ...facts }, at)
      const values = { data: data[id], ...(id.endsWith('#page') && { search }) }
      // JSON cannot measure values that it cannot represent; one document's data may exceed the bound.
      const size = JSON.stringify(state.values ? values : 0).length
      known.keepSegment(id, href, known.keyOf(id, href, params), { ...facts, values, size })
    }
    return known.keyOf(id, href, params)
  })
  known.shown(keys, href)
  return keys
}
