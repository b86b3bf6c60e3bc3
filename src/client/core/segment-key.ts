import { parsePattern } from '../../shared/route-pattern.ts'

/** Search params that loaders are known to read, by segment id; `true` for all of them. It grows as answers tell. */
export type KnownUses = ReadonlyMap<string, true | readonly string[]>

const LAYOUT = '#layout'

/**
 * Key of a segment's data in the route cache: JSON of its id, its own params and the search params that it uses. A
 * layout's own params are those of its key's pattern, so that all pages in it share one entry; a page's are all.
 * Equal content gives an equal key, whatever the order of members and names, and different content never does.
 * @param id `<key>#layout` or `<key>#page`.
 * @param params of the matched route, decoded.
 * @param search the whole query of the URL.
 * @param uses names of the search params that the loader reads, in any order; `true` for the query as a whole, where
 * the order of its members counts.
 */
export function segmentKey(
  id: string,
  params: Readonly<Record<string, string | readonly string[]>>,
  search: URLSearchParams,
  uses: true | readonly string[],
): string {
  const names = id.endsWith(LAYOUT)
    ? parsePattern(id.slice(0, -LAYOUT.length)).segments.flatMap((segment) => ('name' in segment ? segment.name : []))
    : Object.keys(params)
  return JSON.stringify([
    id,
    pick(names, (name) => (Object.hasOwn(params, name) ? params[name] : undefined)),
    uses === true ? String(search) : pick(uses, (name) => (search.has(name) ? search.getAll(name) : undefined)),
  ])
}

/** JSON leaves out what is undefined, so a param that is known but absent makes no difference. */
function pick(names: readonly string[], valueOf: (name: string) => unknown): Readonly<Record<string, unknown>> {
  return Object.fromEntries(names.toSorted().map((name) => [name, valueOf(name)]))
}
