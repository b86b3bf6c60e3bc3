import type { ModuleCache } from '../../../client/react/module-cache.ts'
import type { LoaderArgs, ServerModule } from '../../api/loader-types.ts'
import { parseSearch } from '../../http/search-params.ts'
import { normalizeThrown } from '../../request/answer/normalize-thrown.ts'
import { reportFailure } from '../../request/answer/failure.ts'
import type { RequestContext } from '../../request/context.ts'
import type { StoredPage, StoredValues } from '../../stores/cache/stored-shell.ts'
import type { MatchedRoute } from '../decide/decision.ts'
import { checkParams } from './check-params.ts'
import { checkSearch, type SegmentSearch } from './check-search.ts'
import { SegmentFacts } from './segment-facts.ts'
import { ownParams, serverParts, type SegmentLoader } from './segment-loaders.ts'
import { callVisitor, visitorOf, type VisitorRun } from './visitor-call.ts'

/** What is kept of a page with slots, and what of it is asked for. */
export interface AskedSlots extends Pick<StoredValues, 'slots'> {
  readonly stored: StoredPage
  readonly ids: readonly string[] | undefined
}

/**
 * Runs the functions `visitor` of a kept page for one visitor.
 * @param ids of the segments that are asked for; `undefined` for all. No other function runs: none refuses what is inside of
 * its segment.
 * @param modules has those of the route.
 * @returns their promises by segment id; none is an unhandled rejection.
 */
export function startVisitors(
  page: MatchedRoute,
  { slots, stored, ids }: AskedSlots,
  { context, modules }: { readonly context: RequestContext; readonly modules: ModuleCache },
): ReadonlyMap<string, Promise<unknown>> {
  const started = new Map<string, Promise<unknown>>()
  for (const loader of serverParts(page.route).loaders) {
    const module = modules.get(loader.module) as ServerModule
    const visitor = visitorOf(loader, module)
    if (visitor === undefined || !slots.has(loader.id) || ids?.includes(loader.id) === false) continue
    const call: SlotCall = { loader, module, visitor, page, data: stored.data[loader.id] }
    started.set(loader.id, startVisitor(call, context))
  }
  return started
}

interface SlotCall {
  readonly loader: SegmentLoader
  readonly module: ServerModule
  readonly visitor: VisitorRun
  readonly page: MatchedRoute
  readonly data: unknown
}

function startVisitor({ loader, module, visitor, page, data }: SlotCall, context: RequestContext): Promise<unknown> {
  const facts = new SegmentFacts()
  const own = ownParams(loader, page.params)
  const search = checkSearch(module.search, parseSearch(page.search), facts, context)
  const begin = (params: LoaderArgs['params'], checked: SegmentSearch): Promise<unknown> => {
    if ('failed' in checked) throw checked.failed
    if ('issues' in checked) throw new TypeError(`The search params of ${loader.id} are not valid for its visitor`)
    const { variants } = page.route.definition
    return callVisitor({ params, search: checked, facts, context, variants }, visitor, data)
  }
  const isReady = module.params === undefined && !(search instanceof Promise)
  if (isReady && !('failed' in search) && !('issues' in search)) return begin(own, search)
  const started = Promise.all([module.params === undefined ? own : checkParams(module.params, own), search])
    .then(([params, checked]) => begin(params as LoaderArgs['params'], checked))
    .catch((met: unknown) => {
      const thrown = normalizeThrown(met)
      reportFailure(thrown, context, 'deferred', loader.id)
      throw thrown
    })
  started.catch(() => undefined)
  return started
}
