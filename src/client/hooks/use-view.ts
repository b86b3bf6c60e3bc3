import { useContext } from 'react'
import type { HrefSearch } from '../../shared/href.ts'
import type { EntryPattern, RoutePattern, TableKey } from '../../shared/register.ts'
import type { Params } from '../../shared/route-pattern.ts'
import { parsePattern } from '../../shared/route-pattern.ts'
import type { LoaderData, SearchOf, ServerModuleShape } from '../module-types.ts'
import { RouterContext, ViewContext } from '../react/contexts.ts'
import { withoutDefaults } from '../react/search-defaults.ts'
import { layoutId, pageId, shownChain, type RouteView } from '../react/route-view.ts'
import type { NavigateOptions } from '../react/router-types.ts'

/** One entry in the chain of the page on screen. */
export interface RouteMatchInfo {
  /** Its key in the table, groups included. */
  readonly key: string
  readonly params: Params<string>
  /** Result of its layout's loader. */
  readonly layoutData: unknown
  /** Result of its page's loader; set for the innermost entry only. */
  readonly pageData: unknown
}

/**
 * The view that is being rendered.
 * @throws {Error} outside of the application's tree.
 */
export function useView(): RouteView {
  const view = useContext(ViewContext)
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
 * A loader's result, from anywhere inside the page or the layout.
 * @typeParam Module `typeof import('./loader.server.ts')`.
 * @param key the entry's key in the table, or its pattern without groups.
 * @throws {Error} if the chain of the page on screen has no entry of that key with data.
 */
export function useLoaderData<Module extends ServerModuleShape>(
  key: TableKey | EntryPattern,
  of: 'page' | 'layout' = 'page',
): LoaderData<Module> {
  const view = useView()
  for (const segment of view.chain.toReversed()) {
    if (segment.key !== key && parsePattern(segment.key).url !== key) continue
    const id = of === 'page' ? pageId(segment.key) : layoutId(segment.key)
    if (Object.hasOwn(view.data, id)) return view.data[id] as LoaderData<Module>
  }
  throw new Error(`No ${of} data of ${key} is on screen`)
}

/** The entries in the chain of the page on screen, root first. */
export function useMatches(): readonly RouteMatchInfo[] {
  const view = useView()
  return shownChain(view).map(({ key }) => ({
    key,
    params: view.params,
    layoutData: view.data[layoutId(key)],
    pageData: view.data[pageId(key)],
  }))
}

/**
 * Changes the search params: replaces all of them, or computes them from the current ones. Pushes, unless `replace` is
 * set.
 */
export type SetSearch<Search> = (
  next: HrefSearch | ((current: Search) => HrefSearch),
  options?: NavigateOptions,
) => void

/** Options of `useSearch`. */
export interface SearchOptions<Search> {
  /** What the schema gives for absent params. The setter leaves params out of the URL that have these values. */
  readonly defaults?: Partial<Search> & HrefSearch
}

/**
 * Search params of the page on screen, after its schema, and their setter. Keeps scroll position and focus.
 * @typeParam Module `typeof import('./loader.server.ts')`; raw text without it.
 * @param _pattern of the page whose params they are, for the compiler to check.
 */
export function useSearch<Module extends ServerModuleShape = object>(
  _pattern?: RoutePattern,
  { defaults }: SearchOptions<SearchOf<Module>> = {},
): readonly [SearchOf<Module>, SetSearch<SearchOf<Module>>] {
  const search = useView().search as SearchOf<Module>
  const router = useContext(RouterContext)
  return [
    search,
    (next, options) => {
      const members = typeof next === 'function' ? next(search) : next
      const params = new URLSearchParams()
      for (const [name, value] of Object.entries(members)) {
        for (const item of Array.isArray(value) ? value : [value]) {
          if (item !== undefined) params.append(name, String(item))
        }
      }
      const query = withoutDefaults(params, defaults)
      const path = router?.screen.href.replace(/[?#].*$/s, '') ?? ''
      router?.navigate(path + query, { scroll: false, ...options })
    },
  ]
}
