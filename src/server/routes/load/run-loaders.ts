import type { SegmentMeta } from '../../../shared/protocol/route-data.ts'
import type { ModuleCache } from '../../../client/react/module-cache.ts'
import type { RequestContext } from '../../request/context.ts'
import { parseSearch } from '../../http/search-params.ts'
import { reportFailure } from '../../request/answer/failure.ts'
import { segmentLoaders } from './segment-loaders.ts'
import type { MatchedPage } from './matched-page.ts'
import { type LoaderTiming } from '../../request/answer/answer-headers.ts'
import {
  boundaryOf,
  startLoaders,
  type RefusedSearch,
  type RunningLoaders,
  type StartedSegment,
} from './start-loaders.ts'

/** What came of the matched segments' loaders. */
export interface LoadResult {
  /** By segment id. Complete unless `stopped`; then it holds what lies outside the segment that stopped. */
  readonly data: Readonly<Record<string, unknown>>
  readonly search: unknown
  /** Whether no schema of the page has made them: they are a `RawSearch`. */
  readonly isRaw: boolean
  /** Ids of the segments whose data has a promise among its members. */
  readonly deferred: ReadonlySet<string>
  /** What the browser's cache must know, by segment id; only of segments where that is not all as by default. */
  readonly meta?: Readonly<Record<string, SegmentMeta>>
  readonly timings: readonly LoaderTiming[]
  /** Why there is no page, and where in the chain the search for a fallback starts. */
  readonly stopped?:
    | { readonly kind: 'invalid-search'; readonly faults: readonly string[] }
    | { readonly kind: 'thrown'; readonly thrown: unknown; readonly boundaryFrom: number }
}

const NO_DATA: LoadResult = { data: {}, search: parseSearch(''), isRaw: true, deferred: new Set(), timings: [] }

/**
 * Runs the loaders of all matched segments, all started at once, and waits for them from the root inwards: an outer
 * segment's verdict (a guard in a layout) always goes before an inner one's.
 */
export function runLoaders(
  page: MatchedPage,
  context: RequestContext,
  modules: ModuleCache,
): LoadResult | Promise<LoadResult> {
  const { search } = page
  const named = segmentLoaders(page.route)
  if (named.length === 0) return search === '' ? NO_DATA : { ...NO_DATA, search: parseSearch(search) }
  const missing = modules.load(named.map(({ module }) => module))
  const run = (): Promise<LoadResult> => collect(startLoaders(named, page, context, modules), page, context)
  return missing === undefined ? run() : missing.then(run)
}

async function collect(
  started: RunningLoaders | RefusedSearch,
  page: MatchedPage,
  context: RequestContext,
): Promise<LoadResult> {
  if (started.faults !== undefined) return { ...NO_DATA, stopped: { kind: 'invalid-search', faults: started.faults } }

  const { search, isRaw, segments, timings } = started
  const data: Record<string, unknown> = {}
  const deferred = new Set<string>()
  const settled: StartedSegment[] = []
  let stopped: LoadResult['stopped']
  for (const segment of segments) {
    try {
      const { value, deferred: isDeferred } = await segment.result
      settled.push(segment)
      // What is not there need not travel.
      if (value !== undefined) data[segment.id] = value
      if (isDeferred) deferred.add(segment.id)
    } catch (thrown) {
      reportFailure(thrown, context, 'loader')
      stopped = { kind: 'thrown', thrown, boundaryFrom: boundaryOf(thrown, segment, page.route.chain) }
      break
    }
  }
  return {
    data,
    search,
    isRaw,
    deferred,
    timings,
    ...metaOf(settled, context),
    ...(stopped === undefined ? {} : { stopped }),
  }
}

function metaOf(segments: readonly StartedSegment[], context: RequestContext): Pick<LoadResult, 'meta'> {
  let meta: Record<string, SegmentMeta> | undefined
  for (const { id, facts } of segments) {
    const own = facts.meta(context)
    if (own !== undefined) (meta ??= {})[id] = own
  }
  return meta === undefined ? {} : { meta }
}
