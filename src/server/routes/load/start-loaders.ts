import type { ModuleCache } from '../../../client/react/module-cache.ts'
import { RedirectSignal } from '../../../shared/control-flow.ts'
import type { ServerModule } from '../../api/loader-types.ts'
import type { RequestContext } from '../../request/context.ts'
import { parseSearch } from '../../http/search-params.ts'
import type { RawSearch } from '../../../shared/raw-search.ts'
import type { Deferrable } from './deferred.ts'
import { checkSearch, refusedSearch, type RefusedSearch, type SegmentSearch } from './check-search.ts'
import { noteLoaders } from './development-notes.ts'
import { callLoader, type LoaderCall } from './loader-call.ts'
import { SegmentFacts } from './segment-facts.ts'
import { guards, ownParams, type SegmentLoader } from './segment-loaders.ts'
import type { Route } from '../../../shared/route-table.ts'
import type { MatchedPage } from './matched-page.ts'
import { untilAborted } from './until-aborted.ts'
import type { LoaderTiming } from '../../request/answer/answer-headers.ts'

/** A segment whose loader is running. */
export interface StartedSegment {
  readonly id: string
  /** Index in the chain where the search for a fallback starts when it fails. */
  readonly boundaryFrom: number
  /** Whether nothing inside it may be seen before it has succeeded. */
  readonly guards: boolean
  /** Rejects with the loader's error, and when the request is aborted. Never an unhandled rejection. */
  readonly result: Promise<Deferrable>
  /** Search params after the schema, if the segment is a page that has one. */
  readonly search?: { readonly value: unknown }
  readonly facts: SegmentFacts
}

/** Loaders that are running. */
export interface RunningLoaders {
  readonly faults?: undefined
  /** Search params for the page. */
  readonly search: unknown
  /** Whether no schema of the page has parsed them. */
  readonly isRaw: boolean
  /** Root first. */
  readonly segments: readonly StartedSegment[]
  /** Filled as loaders finish. */
  readonly timings: readonly LoaderTiming[]
}

const NOTHING: Promise<Deferrable> = Promise.resolve({ value: undefined, deferred: false })

/** A loader with its checked search params. */
interface ReadyLoader {
  readonly loader: SegmentLoader
  readonly facts: SegmentFacts
  readonly search: SegmentSearch
}

/**
 * Validates the search params with the schemas of all given modules, then starts all their loaders at once.
 * @param loaders of one route, root first; their modules must be loaded.
 * @returns a promise only if a schema is asynchronous. It does not reject.
 */
export function startLoaders(
  loaders: readonly SegmentLoader[],
  { params, search }: Pick<MatchedPage, 'params' | 'search'>,
  context: RequestContext,
  modules: ModuleCache,
): RunningLoaders | RefusedSearch | Promise<RunningLoaders | RefusedSearch> {
  const raw = parseSearch(search)
  const start = (ready: readonly ReadyLoader[]): RunningLoaders | RefusedSearch => {
    for (const { search: checked } of ready) if ('issues' in checked) return refusedSearch(checked.issues)
    return startReady(ready, { raw, params }, context, modules)
  }
  let isAsync = false
  const ready = loaders.map((loader) => {
    const facts = new SegmentFacts()
    const checked = checkSearch(serverModule(loader, modules).search, raw, facts, context)
    isAsync ||= checked instanceof Promise
    return { loader, facts, search: checked }
  })
  if (!isAsync) return start(ready as readonly ReadyLoader[])
  return Promise.all(ready.map(async (one) => ({ ...one, search: await one.search }))).then(start)
}

function startReady(
  ready: readonly ReadyLoader[],
  { raw, params }: { readonly raw: RawSearch; readonly params: MatchedPage['params'] },
  context: RequestContext,
  modules: ModuleCache,
): RunningLoaders {
  let pageSearch: unknown = raw
  let isRaw = true
  const timings: LoaderTiming[] = []
  const segments: StartedSegment[] = []
  for (const { loader, search, facts } of ready) {
    const module = serverModule(loader, modules)
    const run = module.loader as LoaderCall['run'] | undefined
    const own = loader.isPage && 'parsed' in search ? { value: search.parsed } : undefined
    if (own !== undefined) {
      pageSearch = own.value
      isRaw = false
    }
    let result = NOTHING
    if ('failed' in search) result = Promise.reject(search.failed)
    else if (run !== undefined && !('issues' in search)) {
      const call = { run, params: ownParams(loader, params), schema: module.params, search, facts, context }
      result = timed(call, loader.id, timings)
    } else if (own === undefined) continue
    segments.push({
      id: loader.id,
      boundaryFrom: loader.boundaryFrom,
      guards: guards(loader, modules),
      result: untilAborted(result, context),
      ...(own === undefined ? {} : { search: own }),
      facts,
    })
  }
  if (process.env['NODE_ENV'] === 'development') noteLoaders(segments, timings, context)
  return { search: pageSearch, isRaw, segments, timings }
}

/**
 * Index in the chain where the search for the fallback of a failed segment starts. An unsafe redirect is a failure of
 * the page, whichever layout threw it.
 */
export function boundaryOf(thrown: unknown, { boundaryFrom }: StartedSegment, chain: Route['chain']): number {
  return thrown instanceof RedirectSignal ? chain.length - 1 : boundaryFrom
}

function serverModule({ module }: SegmentLoader, modules: ModuleCache): ServerModule {
  return modules.get(module) as ServerModule
}

function timed(call: LoaderCall, segment: string, timings: LoaderTiming[]): Promise<Deferrable> {
  const started = performance.now()
  const part = call.context.telemetry?.begin('loader', segment)
  const loading = part === undefined ? callLoader(call) : part.run(() => callLoader(call))
  if (part !== undefined) {
    loading.then(
      () => part.end(),
      (thrown: unknown) => part.end([thrown]),
    )
  }
  return loading.finally(() => {
    const ended = performance.now()
    timings.push({ segment, started, milliseconds: ended - started })
    call.context.addSpan('loader', segment, started, ended)
  })
}
