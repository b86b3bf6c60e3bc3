import { instanceKey } from '../../react/instance-key.ts'
import type { RouteParams } from '../../react/route-view.ts'

/**
 * Key of a segment's data in the route cache: the segment's instance, and the search params that its loader uses. Equal
 * content gives an equal key, in any order of members and names, and different content never does.
 * @param id `<key>#layout` or `<key>#page`.
 * @param params of the matched route, decoded.
 * @param search the whole query of the URL.
 * @param uses names of the search params that the loader reads, in any order; `true` for the whole query, where the
 * order of its members counts.
 */
export function segmentKey(
  id: string,
  params: RouteParams,
  search: URLSearchParams,
  uses: true | readonly string[],
): string {
  // JSON omits undefined members, so a known but absent param makes no difference.
  const used = (names: readonly string[]): unknown =>
    Object.fromEntries(names.toSorted().map((name) => [name, search.has(name) ? search.getAll(name) : undefined]))
  return instanceKey(id, params) + JSON.stringify(uses === true ? String(search) : used(uses))
}
