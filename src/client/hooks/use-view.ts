import { useContext } from 'react'
import type { HrefSearch } from '../../shared/href.ts'
import type { Params } from '../../shared/route-pattern.ts'
import { parsePattern } from '../../shared/route-pattern.ts'
import type { LoaderData, SearchOf, ServerModuleShape } from '../module-types.ts'
import { RouterContext, ViewContext } from '../react/contexts.ts'
import { layoutId, pageId, shownChain, type RouteView } from '../react/route-view.ts'
import type { NavigateOptions } from '../react/router-types.ts'

/** One entry around the page on the screen. */
export interface RouteMatchInfo {
  /** Its key in the table, groups included. */
  readonly key: string
  readonly params: Params<string>
  /** What its layout's loader returned. */
  readonly layoutData: unknown
  /** What its page's loader returned; only of the innermost entry. */
  readonly pageData: unknown
}

function useView(): RouteView {
  const view = useContext(ViewContext)
  if (view === null) throw new Error('This hook works inside of a page, layout or fallback of the application')
  return view
}

/**
 * Params of the page on the screen, decoded.
 * @param _pattern types them; the page must be at or below it.
 */
export function useParams<Pattern extends string = string>(_pattern?: Pattern): Params<Pattern> {
  return useView().params as Params<Pattern>
}

/**
 * What a loader returned, from anywhere inside of the page or the layout.
 * @typeParam Module `typeof import('./loader.server.ts')`.
 * @param key the entry's key in the table, or its pattern without groups.
 * @throws {Error} where no entry of that key with data is around the page on the screen.
 */
export function useLoaderData<Module extends ServerModuleShape>(
  key: string,
  of: 'page' | 'layout' = 'page',
): LoaderData<Module> {
  const view = useView()
  for (const segment of view.chain.toReversed()) {
    if (segment.key !== key && parsePattern(segment.key).url !== key) continue
    const id = of === 'page' ? pageId(segment.key) : layoutId(segment.key)
    if (Object.hasOwn(view.data, id)) return view.data[id] as LoaderData<Module>
  }
  throw new Error(`No ${of} data of ${key} is on the screen`)
}

/** The entries around the page on the screen, root first. */
export function useMatches(): readonly RouteMatchInfo[] {
  const view = useView()
  return shownChain(view).map(({ key }) => ({
    key,
    params: view.params,
    layoutData: view.data[layoutId(key)],
    pageData: view.data[pageId(key)],
  }))
}

/** Changes the search params: all of them, or from those that are there. Pushes, unless `replace` is set. */
export type SetSearch<Search> = (
  next: HrefSearch | ((current: Search) => HrefSearch),
  options?: NavigateOptions,
) => void

/**
 * Search params of the page on the screen, as its schema gave them, and their setter. Scroll and focus stay where they
 * are.
 * @typeParam Module `typeof import('./loader.server.ts')`; raw text without it.
 */
export function useSearch<Module extends ServerModuleShape = object>(): readonly [
  SearchOf<Module>,
  SetSearch<SearchOf<Module>>,
] {
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
      const query = params.size === 0 ? '' : `?${params}`
      const path = router?.screen.href.replace(/[?#].*$/s, '') ?? ''
      router?.navigate(path + query, { scroll: false, ...options })
    },
  ]
}
