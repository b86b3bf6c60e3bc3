import { controlFlowOf, RedirectSignal } from '../../shared/control-flow.ts'
import type { ModuleLoader } from '../../shared/route-definition.ts'
import type { Route } from '../../shared/route-table.ts'
import { layoutId, pageId } from '../../client/react/route-view.ts'
import type { ModuleCache } from '../../client/react/module-cache.ts'
import type { LoaderArgs, ServerModule } from '../loader-types.ts'
import type { RequestContext } from '../request/context.ts'
import { parseSearch } from '../request/search-params.ts'
import { reportFailure } from '../render/failure.ts'
import { deferMembers } from './deferred.ts'

/** One loader's duration, for `Server-Timing`. */
export interface LoaderTiming {
  readonly segment: string
  readonly milliseconds: number
}

/** What came of the matched segments' loaders. */
export interface LoadResult {
  /** By segment id. Complete unless `stopped`; then it holds what lies outside the segment that stopped. */
  readonly data: Readonly<Record<string, unknown>>
  readonly search: unknown
  /** Ids of the segments whose data has a promise among its members. */
  readonly deferred: ReadonlySet<string>
  readonly timings: readonly LoaderTiming[]
  /** Why there is no page, and where in the chain the search for a fallback starts. */
  readonly stopped?:
    | { readonly kind: 'redirect'; readonly signal: RedirectSignal }
    | { readonly kind: 'invalid-search'; readonly faults: readonly string[] }
    | { readonly kind: 'thrown'; readonly thrown: unknown; readonly boundaryFrom: number }
}

interface Work {
  readonly id: string
  readonly boundaryFrom: number
  readonly result: Promise<unknown>
}

const NO_DATA: LoadResult = { data: {}, search: parseSearch(''), deferred: new Set(), timings: [] }

/**
 * Runs the loaders of all matched segments, all started at once, and waits for them from the root inwards: an outer
 * segment's verdict (a guard in a layout) always goes before an inner one's.
 */
export function runLoaders(
  route: Route,
  params: LoaderArgs['params'],
  search: string,
  context: RequestContext,
  modules: ModuleCache,
): LoadResult | Promise<LoadResult> {
  const named = serverModules(route)
  if (named.length === 0) return search === '' ? NO_DATA : { ...NO_DATA, search: parseSearch(search) }
  const missing = modules.load(named.map(({ loader }) => loader))
  const run = (): Promise<LoadResult> => collect(named, params, search, context, modules)
  return missing === undefined ? run() : missing.then(run)
}

interface NamedServerModule {
  readonly id: string
  readonly loader: ModuleLoader
  readonly isPage: boolean
  /** A failing layout cannot show its own segment's fallback, a failing page can. */
  readonly boundaryFrom: number
}

const namedModules = new WeakMap<Route, readonly NamedServerModule[]>()

function serverModules(route: Route): readonly NamedServerModule[] {
  const known = namedModules.get(route)
  if (known !== undefined) return known
  const made: NamedServerModule[] = []
  const last = route.chain.length - 1
  route.chain.forEach(({ key, definition }, at) => {
    if (definition.layoutLoader !== undefined) {
      made.push({ id: layoutId(key), loader: definition.layoutLoader, isPage: false, boundaryFrom: at - 1 })
    }
    if (at === last && definition.loader !== undefined) {
      made.push({ id: pageId(key), loader: definition.loader, isPage: true, boundaryFrom: at })
    }
  })
  namedModules.set(route, made)
  return made
}

async function collect(
  named: readonly NamedServerModule[],
  params: LoaderArgs['params'],
  searchText: string,
  context: RequestContext,
  modules: ModuleCache,
): Promise<LoadResult> {
  const raw = parseSearch(searchText)
  const searches = new Map<string, unknown>()
  for (const { id, loader } of named) {
    const schema = (modules.get(loader) as ServerModule).search
    const parsed = schema?.safeParse(raw)
    if (parsed?.success === false) {
      const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
      return { ...NO_DATA, stopped: { kind: 'invalid-search', faults } }
    }
    searches.set(id, parsed === undefined ? raw : parsed.data)
  }

  const timings: LoaderTiming[] = []
  const work: Work[] = []
  for (const { id, loader, boundaryFrom } of named) {
    const run = (modules.get(loader) as ServerModule).loader
    if (run === undefined) continue
    const started = performance.now()
    const args = new LoaderCall(params, searches.get(id), context)
    const result = call(run as (args: LoaderCall) => unknown, args)
    const timed = result.finally(() => timings.push({ segment: id, milliseconds: performance.now() - started }))
    // Inner loaders may fail while an outer one is still awaited; their turn comes, or nobody needs them any more.
    timed.catch(() => undefined)
    work.push({ id, boundaryFrom, result: timed })
  }

  const page = named.find(({ isPage }) => isPage)
  const search = page === undefined ? raw : searches.get(page.id)
  const data: Record<string, unknown> = {}
  const deferred = new Set<string>()
  for (const { id, boundaryFrom, result } of work) {
    try {
      const value = deferMembers(await untilAborted(result, context), context)
      // What is not there need not travel.
      if (value.value !== undefined) data[id] = value.value
      if (value.deferred) deferred.add(id)
    } catch (thrown) {
      const signal = controlFlowOf(thrown)
      if (signal instanceof RedirectSignal)
        return { data, search, deferred, timings, stopped: { kind: 'redirect', signal } }
      if (signal === undefined) reportFailure(thrown, context, 'loader')
      return { data, search, deferred, timings, stopped: { kind: 'thrown', thrown: signal ?? thrown, boundaryFrom } }
    }
  }
  return { data, search, deferred, timings }
}

async function call(run: (args: LoaderCall) => unknown, args: LoaderCall): Promise<unknown> {
  return run(args)
}

/** A loader that does not listen to its signal must not hold the answer back for ever. */
function untilAborted(result: Promise<unknown>, context: RequestContext): Promise<unknown> {
  return new Promise((resolve, reject) => {
    context.onAbort(reject)
    result.then(resolve, reject)
  })
}

/** The argument of a loader: `request` and `signal` are made only when the loader reads them. */
class LoaderCall implements LoaderArgs<string, unknown> {
  readonly params: LoaderArgs['params']
  readonly search: unknown
  readonly context: RequestContext

  constructor(params: LoaderArgs['params'], search: unknown, context: RequestContext) {
    this.params = params
    this.search = search
    this.context = context
  }

  get request(): Request {
    return this.context.request
  }

  get signal(): AbortSignal {
    return this.context.signal
  }
}
