import { layoutId, pageId } from '../../../client/react/route-view.ts'
import type { ModuleCache } from '../../../client/react/module-cache.ts'
import type { ModuleLoader } from '../../../shared/route-definition.ts'
import { parsePattern } from '../../../shared/route-pattern.ts'
import type { Route } from '../../../shared/route-table.ts'
import type { LoaderArgs, ServerModule } from '../../api/loader-types.ts'

/** A server module of a route, and what is known of it without loading it. */
export interface SegmentLoader {
  /** The segment's id: `<key>#layout` or `<key>#page`. */
  readonly id: string
  /** Loads the `*.server.ts`. */
  readonly module: ModuleLoader
  readonly isPage: boolean
  /** Where the search for a fallback starts: a failing layout cannot show its own segment's, a failing page can. */
  readonly boundaryFrom: number
  /** Place in the chain; that of the page is behind all layouts. */
  readonly depth: number
  /** Names of the params that the loader is given: those of its own pattern. */
  readonly params: readonly string[]
}

const known = new WeakMap<Route, readonly SegmentLoader[]>()

/** The server modules of a route, root first. */
export function segmentLoaders(route: Route): readonly SegmentLoader[] {
  const before = known.get(route)
  if (before !== undefined) return before
  const made: SegmentLoader[] = []
  const last = route.chain.length - 1
  route.chain.forEach(({ key, definition }, at) => {
    const params = paramNames(key)
    if (definition.layoutLoader !== undefined) {
      const id = layoutId(key)
      made.push({ id, module: definition.layoutLoader, isPage: false, boundaryFrom: at - 1, depth: at, params })
    }
    if (at === last && definition.loader !== undefined) {
      const id = pageId(key)
      made.push({ id, module: definition.loader, isPage: true, boundaryFrom: at, depth: at + 1, params })
    }
  })
  known.set(route, made)
  return made
}

function paramNames(key: string): readonly string[] {
  return parsePattern(key).segments.flatMap((segment) => (segment.kind === 'static' ? [] : [segment.name]))
}

/**
 * The params of one segment. A layout must not see those of the pages below it: the browser keeps its data while they
 * change.
 */
export function ownParams(
  { isPage, params: names }: SegmentLoader,
  params: LoaderArgs['params'],
): LoaderArgs['params'] {
  if (isPage || Object.keys(params).length === 0) return params
  const own: Record<string, string | readonly string[]> = Object.create(null)
  for (const name of names) {
    const value = Object.hasOwn(params, name) ? params[name] : undefined
    if (value !== undefined) own[name] = value
  }
  return own
}

/**
 * Which loaders run for an answer that holds some segments only. A layout's loader may refuse whatever lies inside of
 * it, so it runs for every segment inside, unless its module says that it guards nothing.
 * @param wanted ids of segments of this route; none means that only the guards are asked.
 * @param modules must hold the modules of the route already.
 */
export function neededLoaders(
  route: Route,
  wanted: ReadonlySet<string>,
  modules: ModuleCache,
): readonly SegmentLoader[] {
  const innermost = innermostDepth(route, wanted)
  return segmentLoaders(route).filter(
    (loader) => wanted.has(loader.id) || (!loader.isPage && loader.depth < innermost && guards(loader, modules)),
  )
}

/** Whether a loader may refuse what lies inside of its segment. A page has nothing inside. */
export function guards({ module, isPage }: SegmentLoader, modules: ModuleCache): boolean {
  return !isPage && (modules.get(module) as ServerModule).guards !== false
}

/** The loaders that must succeed before an action may run on a page, root first. */
export function actionGuards(route: Route, modules: ModuleCache): readonly SegmentLoader[] {
  return segmentLoaders(route).filter((loader) =>
    loader.isPage ? (modules.get(loader.module) as ServerModule).guards === true : guards(loader, modules),
  )
}

function innermostDepth({ chain, key }: Route, wanted: ReadonlySet<string>): number {
  if (wanted.size === 0 || wanted.has(pageId(key))) return chain.length
  return chain.findLastIndex((entry) => wanted.has(layoutId(entry.key)))
}
