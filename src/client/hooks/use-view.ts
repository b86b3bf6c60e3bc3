import { use, useCallback, useMemo } from 'react'
import type { HrefSearch } from '../../shared/href.ts'
import type { EntryPattern, RoutePattern, TableKey } from '../../shared/registered-table.ts'
import type { Params } from '../../shared/route-pattern.ts'
import { parsePattern } from '../../shared/route-pattern.ts'
import type { LoaderData, SearchOf, ServerModuleShape } from '../module-types.ts'
import { RouterContext, ViewContext } from '../react/contexts.ts'
import { layoutId, pageId, shownChain, type RouteView } from '../react/route-view.ts'
import { searchSetterOf } from './search-setter.ts'
import { useLatest } from './use-latest.ts'
import type { NavigateOptions } from '../react/router-types.ts'

/** One entry in the chain of the page on screen. */
export interface RouteMatchInfo {
  /** Its key in the table, groups included. */
  readonly key: string
  readonly params: Params<string>
  /** Result of its layout's loader. */
  readonly layoutData: unknown
  /** Result of its page's loader; set for the innermost entry only. A promise if the document did not wait for it. */
  readonly pageData: unknown
}

/**
 * The view that is being rendered.
 * @throws {Error} outside of the application's tree.
 */
export function useView(): RouteView {
  const view = use(ViewContext)
  if (view === null) throw new Error('This hook works only inside a page, layout or fallback of the application')
  return view
}

/**
 * Decoded params of the page on screen.
 * @param _pattern types them; the page must be at or below it.
 */
export function useParams<Pattern extends EntryPattern = never>(_pattern?: Pattern): Params<Pattern> {
  return useView().params as Params<Pattern>
}

/**
 * A loader's result, from anywhere inside the page or the layout. Suspends while the page's loader runs (`shell: 'early'`).
 * @typeParam Module `typeof import('./loader.server.ts')`.
 * @param key the entry's key in the table, or its pattern without groups.
 * @throws {Error} if the chain of the page on screen has no entry of that key with data.
 * @example
 * ```tsx
 * import { useLoaderData } from 'millrace'
 *
 * export function MillName() {
 *   const { mill } = useLoaderData<typeof import('./loader.server.ts')>('/mills/[id]')
 *   return <strong>{mill.name}</strong>
 * }
 * ```
 */
export function useLoaderData<Module extends ServerModuleShape>(
  key: TableKey | EntryPattern,
  of: 'page' | 'layout' = 'page',
): LoaderData<Module> {
  const { chain, data } = useView()
  for (const { key: own } of chain.toReversed()) {
    if (own !== key && parsePattern(own).url !== key) continue
    const id = (of === 'page' ? pageId : layoutId)(own)
    const loaded = data[id]
    // Of a document that does not wait for it; no loader's result is a promise itself.
    if (loaded instanceof Promise) return use(loaded) as LoaderData<Module>
    if (id in data) return loaded as LoaderData<Module>
  }
  throw new Error(`No ${of} data of ${key} is on screen`)
}

/** The entries in the chain of the page on screen, root first. The same list until the page or its data changes. */
export function useMatches(): readonly RouteMatchInfo[] {
  const view = useView()
  return useMemo(() => {
    const { params, data } = view
    return shownChain(view).map(({ key }) => ({
      key,
      params,
      layoutData: data[layoutId(key)],
      pageData: data[pageId(key)],
    }))
  }, [view])
}

/**
 * Changes the search params: replaces all of them, or computes them from those of the URL to which the router is heading,
 * so that changes in quick succession add up. Pushes, unless `replace` is set. Does nothing once its page has been left,
 * or while the visitor is leaving it.
 */
export type SetSearch<Search> = (
  next: HrefSearch | ((current: Search) => HrefSearch),
  options?: NavigateOptions,
) => void

/** Options of `useSearch`. */
export interface SearchOptions<Search> {
  /** What the schema gives for absent params. The setter leaves params out of the URL that have these values. */
  readonly defaults?: (Partial<Search> & HrefSearch) | undefined
}

/**
 * Search params of the page on screen, after its schema, and their setter. Keeps scroll position and focus. The setter
 * keeps its identity: it may be a dependency of an effect, and be called by timers.
 * @typeParam Module `typeof import('./loader.server.ts')`; raw text without it.
 * @param pattern of the page whose params they are, for the compiler to check. The setter does nothing on other pages.
 * @example
 * ```tsx
 * import { useSearch } from 'millrace'
 *
 * export function Sort() {
 *   const [search, setSearch] = useSearch()
 *   return <button onClick={() => setSearch({ sort: 'name' })}>{search['sort'] === 'name' ? 'By name' : 'Sort'}</button>
 * }
 * ```
 */
export function useSearch<Module extends ServerModuleShape = object>(
  pattern?: RoutePattern,
  { defaults }: SearchOptions<SearchOf<Module>> = {},
): readonly [SearchOf<Module>, SetSearch<SearchOf<Module>>] {
  const view = useView()
  const router = use(RouterContext)
  const latest = useLatest({ view, defaults })
  const change = useMemo(() => router && searchSetterOf(router), [router])
  const set = useCallback<SetSearch<SearchOf<Module>>>(
    (next, options) => {
      const { view: of, defaults: absent } = latest.current
      // Without its groups, as patterns are.
      const shown = of.chain.at(-1)?.key.replace(/\/\([^/]*\)/g, '') || '/'
      if (pattern === undefined || pattern === shown) change?.({ of, next, defaults: absent, options })
    },
    [change, pattern, latest],
  )
  const search = view.search as SearchOf<Module>
  return useMemo(() => [search, set], [search, set])
}
