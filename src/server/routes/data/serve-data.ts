import { layoutId, pageId } from '../../../client/react/route-view.ts'
import type { ModuleCache } from '../../../client/react/module-cache.ts'
import { ROUTE_DATA_PREFIX, type RouteDataHead } from '../../../shared/protocol/route-data.ts'
import type { Route } from '../../../shared/route-table.ts'
import type { Decision, MatchedRoute } from '../decide/decision.ts'
import { redirectTo, replacementOf, stoppedByUrl } from '../decide/stopped.ts'
import type { KeptPages } from '../kept/kept-pages.ts'
import { neededLoaders, serverParts } from '../load/segment-loaders.ts'
import { startLoaders } from '../load/start-loaders.ts'
import type { Admission } from '../../request/admission/admission.ts'
import { sendText } from '../../request/answer/send-plain.ts'
import type { RequestContext } from '../../request/context.ts'
import { sendDocumentHead, sendHead, type Head } from './data-answer.ts'
import { deliverSegments, type RunningPage } from './deliver-segments.ts'
import { keptData } from './kept-data.ts'

/** Parts for answering route data. */
export interface DataParts {
  readonly modules: ModuleCache
  readonly admission: Admission
  /** Whether another Express server answers what the table does not. */
  readonly isEmbedded: boolean
  /** Milliseconds after which loaders and deferred values are aborted. */
  readonly renderTimeoutMs: number
  /** The parts of a URL on which the choice of its route depends; see `routeScope`. */
  readonly scope: NonNullable<RouteDataHead['scope']>
  readonly kept: KeptPages
  /** Whether the application is exported: all its pages are kept then. */
  readonly forFiles: boolean
}

/** Answers a request for route data. */
export async function serveData(parts: DataParts, decision: Decision, context: RequestContext): Promise<void> {
  const page = dataPageOf(parts, decision, context)
  if (page === undefined) return
  const { admission, forFiles, kept } = parts
  const alone = async (): Promise<void> => {
    const shed = (await admission.enter(context)) ?? (await admission.turn(context))
    if (shed !== undefined) return sendText(context, 503, 'Too busy', shed.headers)
    await sendPageData(parts, page, context)
  }
  if (page.kind === 'none' || !(forFiles || page.route.definition.cache === 'shared')) return alone()
  const wanted = wantedOf(page.route, context.data?.segments)
  const ids = serverParts(page.route).loaders.flatMap(({ id }) => (wanted.has(id) ? id : []))
  await kept.serve(page, context, keptData({ context, head: headOf(parts, page, context), ids, alone }))
}

/**
 * The page whose data is asked for.
 * @returns `undefined` if no page has data for the URL: then the request has been answered, and the client follows the
 * redirect or loads the document.
 */
export function dataPageOf(parts: DataParts, decision: Decision, context: RequestContext): MatchedRoute | undefined {
  switch (decision.kind) {
    case 'redirect':
      return void sendHead(context, 200, { redirect: redirectTo(decision.location) })
    case 'refused':
      context.record.refused = decision.reason
      return void sendDocumentHead(context, decision.status)
    case 'proxy':
      return void sendDocumentHead(context, 200)
    case 'handler':
      context.record.route = ROUTE_DATA_PREFIX + decision.route.pattern
      return void sendDocumentHead(context, 200)
    case 'none':
      // The host may have a document there.
      return parts.isEmbedded ? void sendDocumentHead(context, 200) : decision
    case 'page':
      context.record.route = ROUTE_DATA_PREFIX + decision.route.pattern
      return decision
  }
}

/** The first line of a page's data. */
export function headOf(
  { scope }: DataParts,
  { kind, route, params }: MatchedRoute,
  { audience }: RequestContext,
): Head {
  return { route: kind === 'none' ? null : route.key, params, scope: audience.guardedByQuery ? 'url' : scope }
}

/**
 * Sends the data of a page.
 * @param opening decides status and head first; by default the first record does.
 */
export async function sendPageData(
  parts: DataParts,
  page: MatchedRoute,
  context: RequestContext,
  opening?: RunningPage['opening'],
): Promise<void> {
  const { modules, renderTimeoutMs } = parts
  const { route } = page
  const { chain } = route
  const stopped = stoppedByUrl(page)
  const missing = stopped && replacementOf(stopped, chain, context)
  if (missing?.kind === 'redirect' || (missing && missing.at === undefined))
    return sendDocumentHead(context, missing.status)
  const loading = modules.load(serverParts(route).modules)
  if (loading !== undefined) await loading
  const wanted = wantedOf(route, stopped === undefined ? context.data?.segments : undefined)
  const started = startLoaders(neededLoaders(route, wanted, modules), page, context, modules)
  context.startDeadline(renderTimeoutMs)
  const loaders = started instanceof Promise ? await started : started
  if (loaders.faults !== undefined) {
    context.record.refused = loaders.reason
    return sendDocumentHead(context, 400)
  }
  await deliverSegments({ head: headOf(parts, page, context), chain, wanted, loaders, opening, missing }, context)
}

/** All of the page's segments, unless the request names some and all of them belong to this page. */
function wantedOf({ chain, key }: Route, named: readonly string[] | undefined): ReadonlySet<string> {
  const all = new Set(chain.map((entry) => layoutId(entry.key)))
  all.add(pageId(key))
  // The client expected another route; it cannot know yet which segments of this one it has.
  return named === undefined || named.some((id) => !all.has(id)) ? all : new Set(named)
}
