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

/** An entry's guard, with the facts that are known before its module is loaded. */
export interface SegmentGuard extends Pick<SegmentLoader, 'module' | 'boundaryFrom' | 'depth' | 'params'> {
  /** `<key>#guard`: in the log, and for `Server-Timing`. */
  readonly id: string
}

/** What the server runs for a route. */
interface ServerParts {
  /** Root first. */
  readonly loaders: readonly SegmentLoader[]
  /** Of the entries of its chain, root first. */
  readonly guards: readonly SegmentGuard[]
  /** The modules of both. */
  readonly modules: readonly ModuleLoader[]
}

const known = new WeakMap<Route, ServerParts>()

/** The server modules of a route, except for its handler. */
export function serverParts(route: Route): ServerParts {
  const before = known.get(route)
  if (before !== undefined) return before
  const loaders: SegmentLoader[] = []
  const guards: SegmentGuard[] = []
  const last = route.chain.length - 1
  route.chain.forEach(({ key, definition }, at) => {
    const params = paramNames(key)
    const { guard, layoutLoader, loader } = definition
    const outside = { boundaryFrom: at - 1, depth: at, params }
    if (guard !== undefined) guards.push({ id: `${key}#guard`, module: guard, ...outside })
    if (layoutLoader !== undefined) {
      loaders.push({ id: layoutId(key), module: layoutLoader, isPage: false, ...outside })
    }
    if (at === last && loader !== undefined) {
      loaders.push({ id: pageId(key), module: loader, isPage: true, boundaryFrom: at, depth: at + 1, params })
    }
  })
  const made = { loaders, guards, modules: [...guards, ...loaders].map(({ module }) => module) }
  known.set(route, made)
  return made
}

function paramNames(key: string): readonly string[] {
  return parsePattern(key).segments.flatMap((segment) => (segment.kind === 'static' ? [] : [segment.name]))
}

/**
 * The params of one segment. A layout and a guard must not see those of the pages below it: the browser keeps the
 * layout's data while they change.
 */
export function ownParams(
  { isPage = false, params: names }: { readonly isPage?: boolean; readonly params: readonly string[] },
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
 * @param wanted ids of segments of this route; if empty, only loaders that may refuse run.
 * @param modules already contains the modules of the route.
 */
export function neededLoaders(
  route: Route,
  wanted: ReadonlySet<string>,
  modules: ModuleCache,
): readonly SegmentLoader[] {
  const innermost = innermostDepth(route, wanted)
  return serverParts(route).loaders.filter(
    (loader) => wanted.has(loader.id) || (!loader.isPage && loader.depth < innermost && guards(loader, modules)),
  )
}

/** Whether a loader may refuse what is inside its segment. A page has nothing inside. */
export function guards({ module, isPage }: SegmentLoader, modules: ModuleCache): boolean {
  return !isPage && (modules.get(module) as ServerModule).guards !== false
}

/** The loaders that must succeed before an action may run on a page, root first; besides the guards of its entries. */
export function actionGuards(route: Route, modules: ModuleCache): readonly SegmentLoader[] {
  return serverParts(route).loaders.filter((loader) =>
    loader.isPage ? (modules.get(loader.module) as ServerModule).guards === true : guards(loader, modules),
  )
}

function innermostDepth({ chain, key }: Route, wanted: ReadonlySet<string>): number {
  if (wanted.size === 0 || wanted.has(pageId(key))) return chain.length
  return chain.findLastIndex((entry) => wanted.has(layoutId(entry.key)))
}
