import type { ModuleCache } from '../../../client/react/module-cache.ts'
import { RedirectSignal } from '../../../shared/control-flow.ts'
import type { SearchIssue, ServerModule } from '../../api/loader-types.ts'
import { normalizeThrown } from '../../request/answer/normalize-thrown.ts'
import type { RequestContext } from '../../request/context.ts'
import { parseSearch } from '../../http/search-params.ts'
import type { Deferrable } from './deferred.ts'
import { callLoader, type LoaderCall } from './loader-call.ts'
import { SegmentFacts } from './segment-facts.ts'
import { guards, ownParams, type SegmentLoader } from './segment-loaders.ts'
import { holdsSearch, trackSearch } from '../../http/track-search.ts'
import type { Route } from '../../../shared/route-table.ts'
import type { MatchedPage } from './matched-page.ts'
import { watchPromises } from './watch-promises.ts'
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

/** Faults of the search params, so that no loader runs. */
export interface RefusedSearch {
  /** One text per fault, for the visitor. */
  readonly faults: readonly string[]
}

const MOST_FAULTS = 20 // nobody reads more

const NOTHING: Promise<Deferrable> = Promise.resolve({ value: undefined, deferred: false })

/**
 * Validates the search params with the schemas of all given modules, then starts all their loaders at once.
 * @param loaders of one route, root first; their modules must be loaded.
 */
export function startLoaders(
  loaders: readonly SegmentLoader[],
  { params, search: searchText }: Pick<MatchedPage, 'params' | 'search'>,
  context: RequestContext,
  modules: ModuleCache,
): RunningLoaders | RefusedSearch {
  const raw = parseSearch(searchText)
  const calls: { loader: SegmentLoader; search: LoaderCall['search']; facts: SegmentFacts }[] = []
  for (const loader of loaders) {
    const schema = serverModule(loader, modules).search
    const facts = new SegmentFacts()
    if (schema === undefined) {
      calls.push({ loader, search: { raw }, facts })
      continue
    }
    const watched = trackSearch(raw, facts)
    const parsed = schema.safeParse(watched)
    if (!parsed.success) return refusedSearch(parsed.error.issues)
    const own = watchPromises(parsed.data, context, 'loader')
    // A schema may return its input.
    if (holdsSearch(own, watched)) facts.useAll()
    calls.push({ loader, search: { parsed: own }, facts })
  }

  let pageSearch: unknown = raw
  let isRaw = true
  const timings: LoaderTiming[] = []
  const segments: StartedSegment[] = []
  for (const { loader, search, facts } of calls) {
    const run = serverModule(loader, modules).loader as LoaderCall['run'] | undefined
    const own = loader.isPage && 'parsed' in search ? { value: search.parsed } : undefined
    if (own !== undefined) {
      pageSearch = own.value
      isRaw = false
    }
    if (run === undefined && own === undefined) continue
    const result =
      run === undefined
        ? NOTHING
        : timed({ run, params: ownParams(loader, params), search, facts, context }, loader.id, timings)
    segments.push({
      id: loader.id,
      boundaryFrom: loader.boundaryFrom,
      guards: guards(loader, modules),
      result: untilAborted(result, context),
      ...(own === undefined ? {} : { search: own }),
      facts,
    })
  }
  return { search: pageSearch, isRaw, segments, timings }
}

/**
 * Index in the chain where the search for the fallback of a failed segment starts. An unsafe redirect is a failure of
 * the page, whichever layout threw it.
 */
export function boundaryOf(thrown: unknown, { boundaryFrom }: StartedSegment, chain: Route['chain']): number {
  return thrown instanceof RedirectSignal ? chain.length - 1 : boundaryFrom
}

/**
 * For the visitor: a schema may find as many faults as a query has room for, and each text is longer than its cause.
 */
export function refusedSearch(issues: readonly SearchIssue[]): RefusedSearch {
  return { faults: issues.slice(0, MOST_FAULTS).map(({ path, message }) => `${path.join('.')}: ${message}`) }
}

function serverModule({ module }: SegmentLoader, modules: ModuleCache): ServerModule {
  return modules.get(module) as ServerModule
}

function timed(call: LoaderCall, segment: string, timings: LoaderTiming[]): Promise<Deferrable> {
  const started = performance.now()
  return callLoader(call).finally(() => {
    const ended = performance.now()
    timings.push({ segment, milliseconds: ended - started })
    call.context.addSpan('loader', segment, started, ended)
  })
}

/** A loader that ignores its signal must not hold the answer back forever. */
function untilAborted<Value>(result: Promise<Value>, context: RequestContext): Promise<Value> {
  const bounded = new Promise<Value>((resolve, reject) => {
    context.onAbort(reject)
    result.then(resolve, (thrown: unknown) => reject(normalizeThrown(thrown)))
  })
  // An inner loader may fail while an outer one is still awaited; its error is read later, or never.
  bounded.catch(() => undefined)
  return bounded
}
