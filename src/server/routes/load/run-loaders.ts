import type { SegmentMeta } from '../../../shared/protocol/route-data.ts'
import type { ModuleCache } from '../../../client/react/module-cache.ts'
import type { SharedLifetime } from '../../api/loader-types.ts'
import type { RequestContext } from '../../request/context.ts'
import { parseSearch } from '../../http/search-params.ts'
import { reportFailure } from '../../request/answer/failure.ts'
import { pageId } from '../../../client/react/route-view.ts'
import { isPending, latePage, type LatePage } from './late-page.ts'
import { serverParts } from './segment-loaders.ts'
import type { MatchedRoute } from '../decide/decision.ts'
import type { Stopped } from '../decide/stopped.ts'
import type { RefusedInput } from './check-search.ts'
import { startLoaders, stoppedBy, type RunningLoaders, type StartedSegment } from './start-loaders.ts'
import { untilAborted } from './until-aborted.ts'

/** Results of the matched segments' loaders. */
export interface LoadResult {
  /** By segment id. Complete unless `stopped`; then it has only the segments outside the one that stopped. */
  readonly data: Readonly<Record<string, unknown>>
  readonly search: unknown
  /** Whether no schema of the page has parsed them: they are a `RawSearch`. */
  readonly isRaw: boolean
  /** Ids of the segments with a promise among the members of their data. */
  readonly deferred: ReadonlySet<string>
  /** Facts for the browser's cache, by segment id; only for segments with non-default facts. */
  readonly meta?: Readonly<Record<string, SegmentMeta>>
  /** In the making of a kept document: the segments in `data`, and those without data. */
  readonly settled?: readonly StartedSegment[]
  /** How long the page's document may be kept: the shortest times that its loaders say. */
  readonly shared?: Readonly<Record<keyof SharedLifetime, number>> | undefined
  /** Set if the page's loader still runs: its data is a promise. */
  readonly late?: LatePage['facts']
  /** Set if the search params are refused: no loader has run. */
  readonly refused?: RefusedInput
  readonly stopped?: Stopped
}

const NO_DATA: LoadResult = { data: {}, search: parseSearch(''), isRaw: true, deferred: new Set() }

/**
 * Runs the loaders of all matched segments, all started at once, and waits for them from the root inwards: a refusal of
 * an outer segment always wins over an inner one. Guards are asked before.
 * @param isEarly whether the result does not wait for the page's own loader.
 */
export function runLoaders(
  page: MatchedRoute,
  context: RequestContext,
  modules: ModuleCache,
  isEarly = false,
): LoadResult | Promise<LoadResult> {
  const { search } = page
  const { loaders, modules: named } = serverParts(page.route)
  if (named.length === 0) return search === '' ? NO_DATA : { ...NO_DATA, search: parseSearch(search) }
  const missing = modules.load(named)
  const run = (): Promise<LoadResult> => {
    const started = startLoaders(loaders, page, context, modules)
    if (!(started instanceof Promise)) return collect(started, page, context, isEarly)
    return started.then((settled) => collect(settled, page, context, isEarly))
  }
  return missing === undefined ? run() : missing.then(run)
}

async function collect(
  started: RunningLoaders | RefusedInput,
  page: MatchedRoute,
  context: RequestContext,
  isEarly: boolean,
): Promise<LoadResult> {
  if (started.faults !== undefined) return { ...NO_DATA, refused: started }

  const { search, isRaw, segments } = started
  const data: Record<string, unknown> = {}
  const deferred = new Set<string>()
  const settled: StartedSegment[] = []
  const lateId = isEarly ? pageId(page.route.key) : undefined
  let late: LatePage | undefined
  let stopped: Stopped | undefined
  for (const segment of segments) {
    try {
      if (segment.id === lateId && (await isPending(segment.result))) {
        if (segment.checked !== undefined) await untilAborted(segment.checked, context)
        late = latePage(segment, context)
        data[lateId] = late.data
        deferred.add(lateId)
        break
      }
      const { value, deferred: isDeferred } = await segment.result
      settled.push(segment)
      // Missing data is not transferred.
      if (value !== undefined) data[segment.id] = value
      if (isDeferred) deferred.add(segment.id)
    } catch (thrown) {
      reportFailure(thrown, context, 'loader', segment.id)
      stopped = stoppedBy(thrown, segment, page.route.chain)
      break
    }
  }
  return {
    data,
    search,
    isRaw,
    deferred,
    ...metaOf(settled, context),
    ...(late === undefined ? {} : { late: late.facts }),
    ...(context.making === undefined ? {} : { settled, shared: sharedOf(settled) }),
    ...(stopped === undefined ? {} : { stopped }),
  }
}

function sharedOf(segments: readonly StartedSegment[]): LoadResult['shared'] {
  const said = segments.flatMap(({ facts }) => facts.shared ?? [])
  if (said.length === 0) return undefined
  return {
    seconds: Math.min(...said.map(({ seconds }) => seconds)),
    staleSeconds: Math.min(...said.map(({ staleSeconds = 0 }) => staleSeconds)),
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
