import type { ModuleCache } from '../../../client/react/module-cache.ts'
import { RedirectSignal } from '../../../shared/control-flow.ts'
import type { ServerModule } from '../../api/loader-types.ts'
import type { RequestContext } from '../../request/context.ts'
import { judgeThrown } from '../../request/answer/judge-thrown.ts'
import { parseSearch } from '../../http/search-params.ts'
import type { RawSearch } from '../../../shared/raw-search.ts'
import type { Deferrable } from './deferred.ts'
import { checkParams } from './check-params.ts'
import { checkSearch, refusedSearch, type RefusedInput, type SegmentSearch } from './check-search.ts'
import { noteLoaders } from './development-notes.ts'
import { askGuards } from './ask-guards.ts'
import { measureLoader, type AskedPage, type LoaderCall } from './loader-call.ts'
import { SegmentFacts } from './segment-facts.ts'
import { guards, ownParams, serverParts, type SegmentLoader } from './segment-loaders.ts'
import type { Route } from '../../../shared/route-table.ts'
import type { Stopped } from '../decide/stopped.ts'
import { untilAborted } from './until-aborted.ts'
import { visitorOf } from './visitor-call.ts'

/** A segment whose loader is running. */
export interface StartedSegment {
  readonly id: string
  /** Index in the chain where the search for a fallback starts when it fails. */
  readonly boundaryFrom: number
  /** Whether nothing inside it may be seen before it has succeeded. */
  readonly guards: boolean
  /** Set for a guard that has refused: nothing of its entry may be seen. */
  readonly isGuard?: true
  /** Rejects with the loader's error, and when the request is aborted. Never an unhandled rejection. */
  readonly result: Promise<Deferrable>
  /** Rejects as `result` if the URL is not one of the page's: what its loader may not be asked about. */
  readonly checked?: Promise<unknown> | undefined
  /** Search params after the schema, if the segment is a page that has one. */
  readonly search?: { readonly value: unknown }
  readonly facts: SegmentFacts
}

/** Loaders that are running, and the guard that has refused: it is the last segment, and has failed. */
export interface RunningLoaders {
  readonly faults?: undefined
  /** Search params for the page. */
  readonly search: unknown
  /** Whether no schema of the page has parsed them. */
  readonly isRaw: boolean
  /** Root first. */
  readonly segments: readonly StartedSegment[]
}

const NOTHING: Promise<Deferrable> = Promise.resolve({ value: undefined, deferred: false })

/** A loader with its checked search params. */
interface ReadyLoader {
  readonly loader: SegmentLoader
  readonly facts: SegmentFacts
  readonly search: SegmentSearch
}

/** What the loaders of one answer have in common. */
interface LoaderStart {
  readonly page: Pick<AskedPage, 'params' | 'search' | 'route' | 'method'>
  readonly context: RequestContext
  readonly modules: ModuleCache
  /** What the verdict of the guards around them depends on. */
  readonly guarded?: SegmentFacts
}

/**
 * Asks the guards of a page, then validates the search params with the schemas of all given modules, then starts all their
 * loaders at once. If a guard refuses, only the loaders outside its entry start: the fallback's layouts need them. If it
 * redirects, none does.
 * @param loaders of the page's route, root first; their modules and those of the guards must be loaded.
 * @returns a promise only if there is a guard, or a schema is asynchronous. It does not reject.
 */
export function startLoaders(
  loaders: readonly SegmentLoader[],
  page: AskedPage,
  context: RequestContext,
  modules: ModuleCache,
): RunningLoaders | RefusedInput | Promise<RunningLoaders | RefusedInput> {
  if (serverParts(page.route).guards.length > 0) return startGuarded(loaders, page, context, modules)
  return startAll(loaders, { page, context, modules })
}

async function startGuarded(
  loaders: readonly SegmentLoader[],
  page: AskedPage,
  context: RequestContext,
  modules: ModuleCache,
): Promise<RunningLoaders | RefusedInput> {
  const { refusal, facts } = await askGuards(page, context, modules)
  const start = { page, context, modules }
  if (refusal === undefined) return startAll(loaders, { ...start, guarded: facts })
  const { guard, thrown } = refusal
  const isRedirect = judgeThrown(thrown).kind === 'redirect'
  const outside = isRedirect ? [] : loaders.filter(({ depth }) => depth < guard.depth)
  const started = await startAll(outside, start)
  if (started.faults !== undefined) return started
  const result = Promise.reject<Deferrable>(thrown)
  result.catch(() => undefined) // if a loader outside refuses, nobody awaits it
  const { id, boundaryFrom } = guard
  const refused: StartedSegment = { id, boundaryFrom, guards: true, isGuard: true, result, facts }
  return { ...started, segments: [...started.segments, refused] }
}

function startAll(
  loaders: readonly SegmentLoader[],
  started: LoaderStart,
): RunningLoaders | RefusedInput | Promise<RunningLoaders | RefusedInput> {
  const { page, context, modules, guarded } = started
  const raw = parseSearch(page.search)
  const start = (ready: readonly ReadyLoader[]): RunningLoaders | RefusedInput => {
    for (const { search: checked } of ready) if ('issues' in checked) return refusedSearch(checked.issues)
    return startReady(ready, raw, started)
  }
  let isAsync = false
  const ready = loaders.map((loader) => {
    const module = serverModule(loader, modules)
    const facts = new SegmentFacts(module)
    if (guarded !== undefined) facts.inherit(guarded)
    context.making?.watch(facts)
    const checked = checkSearch(module.search, raw, facts, context)
    isAsync ||= checked instanceof Promise
    return { loader, facts, search: checked }
  })
  if (!isAsync) return start(ready as readonly ReadyLoader[])
  return Promise.all(ready.map(async (one) => ({ ...one, search: await one.search }))).then(start)
}

function startReady(
  ready: readonly ReadyLoader[],
  raw: RawSearch,
  { page: { params, route, method }, context, modules }: LoaderStart,
): RunningLoaders {
  context.startReading()
  let pageSearch: unknown = raw
  let isRaw = true
  const segments: StartedSegment[] = []
  for (const { loader, search, facts } of ready) {
    const module = serverModule(loader, modules)
    const visitor = visitorOf(loader, module)
    const run = (module.loader ?? (visitor && nothing)) as LoaderCall['run'] | undefined
    const own = loader.isPage && 'parsed' in search ? { value: search.parsed } : undefined
    if (own !== undefined) {
      pageSearch = own.value
      isRaw = false
    }
    let result = NOTHING
    let checked: Promise<unknown> | undefined
    if ('failed' in search) checked = result = Promise.reject(search.failed)
    else if (run !== undefined && !('issues' in search)) {
      const { variants } = route.definition
      const named = ownParams(loader, params)
      if (module.params !== undefined) checked = checkParams(module.params, named)
      const call = { run, params: named, checked, search, facts, context, variants, visitor, method }
      result = measureLoader(call, loader.id)
    } else if (own === undefined) continue
    segments.push({
      id: loader.id,
      boundaryFrom: loader.boundaryFrom,
      guards: guards(loader, modules),
      result: untilAborted(result, context),
      ...(checked === undefined ? {} : { checked }),
      ...(own === undefined ? {} : { search: own }),
      facts,
    })
  }
  if (process.env['NODE_ENV'] === 'development') noteLoaders(segments, route, context)
  return { search: pageSearch, isRaw, segments }
}

/**
 * Why a page is not shown whose segment has failed. An unsafe redirect is a failure of the page, whichever layout threw
 * it; one that a guard threw is outside of its entry, as all that it throws.
 */
export function stoppedBy(thrown: unknown, segment: StartedSegment, chain: Route['chain']): Stopped {
  const { id, isGuard } = segment
  const isOfPage = thrown instanceof RedirectSignal && isGuard === undefined
  return { thrown, boundaryFrom: isOfPage ? chain.length - 1 : segment.boundaryFrom, loader: id }
}

function nothing(): undefined {}

function serverModule({ module }: SegmentLoader, modules: ModuleCache): ServerModule {
  return modules.get(module) as ServerModule
}
