import { layoutId, pageId } from '../../../client/react/route-view.ts'
import type { ModuleCache } from '../../../client/react/module-cache.ts'
import type { ModuleLoader } from '../../../shared/route-definition.ts'
import { parsePattern } from '../../../shared/route-pattern.ts'
import type { Route } from '../../../shared/route-table.ts'
import type { LoaderArgs, ServerModule } from '../../api/loader-types.ts'

/** A server module of a route, with the facts that are known before it is loaded. */
export interface SegmentLoader {
  /** The segment's id: `<key>#layout` or `<key>#page`. */
  readonly id: string
  /** Loads the `*.server.ts`. */
  readonly module: ModuleLoader
  readonly isPage: boolean
  /**
   * Index in the chain where the search for a fallback starts: a failing layout cannot show its own segment's fallback,
   * a failing page can.
   */
  readonly boundaryFrom: number
  /** Index in the chain; the page is after all layouts. */
  readonly depth: number
  /** Names of the params that the loader gets: those of its own pattern. */
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
 * The loaders to run for an answer with some segments only. A layout's loader may refuse everything inside it, so it
 * runs for every inner segment, unless its module declares that it guards nothing.
 * @param wanted ids of segments of this route; if empty, only the guards run.
 * @param modules already contains the modules of the route.
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

/** Whether a loader may refuse what is inside its segment. A page has nothing inside. */
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
