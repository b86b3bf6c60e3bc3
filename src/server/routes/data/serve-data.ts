import { findBoundary } from '../../../client/react/find-boundary.ts'
import { layoutId, pageId } from '../../../client/react/route-view.ts'
import type { ModuleCache } from '../../../client/react/module-cache.ts'
import { ROUTE_DATA_PREFIX, type RouteDataHead } from '../../../shared/protocol/route-data.ts'
import type { Route, RouteTable } from '../../../shared/route-table.ts'
import { unmatchedPage, type MatchedPage } from '../load/matched-page.ts'
import { neededLoaders, serverParts } from '../load/segment-loaders.ts'
import { startLoaders } from '../load/start-loaders.ts'
import type { Admission } from '../../request/admission/admission.ts'
import { sendText } from '../../request/answer/send-plain.ts'
import type { RequestContext } from '../../request/context.ts'
import type { AppRules } from '../rules/apply-rules.ts'
import { redirectTo, sendDocumentHead, sendHead, type Head } from './data-answer.ts'
import { deliverSegments, type RunningPage } from './deliver-segments.ts'

/** Parts for answering route data. */
export interface DataParts {
  readonly table: RouteTable
  readonly rules: AppRules
  readonly modules: ModuleCache
  readonly admission: Admission
  /** Whether another Express server answers what the table does not. */
  readonly isEmbedded: boolean
  /** Milliseconds after which loaders and deferred values are aborted. */
  readonly renderTimeoutMs: number
  /** The parts of a URL on which the choice of its route depends; see `routeScope`. */
  readonly scope: NonNullable<RouteDataHead['scope']>
}

/** Answers a request for route data, with the same decisions as for the document of the same URL. */
export async function serveData(parts: DataParts, context: RequestContext): Promise<void> {
  const page = findDataPage(parts, context)
  if (page === undefined) return
  const { admission } = parts
  const shed = (await admission.enter(context)) ?? (await admission.turn(context))
  if (shed !== undefined) return sendText(context, 503, 'Too busy', shed.headers)
  await sendPageData(parts, page, context)
}

/**
 * The page of a request for data, by rules and table.
 * @returns `undefined` if no page has data for the URL: then the request has been answered.
 */
export function findDataPage(parts: DataParts, context: RequestContext): MatchedPage | undefined {
  const { rules, table } = parts
  const asked = rules.subjectOf(context)
  const redirect = rules.redirect(context, asked)
  if (redirect !== undefined) {
    if (redirect.fault === undefined) {
      sendHead(context, 200, { redirect: redirectTo(redirect.location) })
      return undefined
    }
    return refuse(context, redirect.status, `the redirect ${redirect.source} cannot be filled in: ${redirect.fault}`)
  }
  const resolution = context.hasDotSegments ? ({ kind: 'none' } as const) : rules.resolve(asked)
  switch (resolution.kind) {
    case 'proxy':
      return refuse(context, 200)
    case 'undecodable':
      return refuse(context, 400, 'undecodable percent sequence')
    case 'bad-destination':
      return refuse(
        context,
        resolution.status,
        `the rewrite ${resolution.source} cannot be filled in: ${resolution.fault}`,
      )
    case 'none':
      // The host may have a document there.
      if (parts.isEmbedded) return refuse(context, 200)
      return { ...unmatchedPage(table), search: context.search }
    case 'route': {
      const { route, params } = resolution.match
      context.record.route = ROUTE_DATA_PREFIX + route.pattern
      if (route.kind === 'handler') return refuse(context, 200)
      return { route, params, search: resolution.search, isUnmatched: false }
    }
  }
}

/** Makes the client load the document. */
function refuse(context: RequestContext, status: number, reason?: string): undefined {
  context.record.refused = reason
  sendDocumentHead(context, status)
}

/** The first line of a page's data. */
export function headOf(
  { scope }: DataParts,
  { route, params, isUnmatched }: MatchedPage,
  { guardedByQuery }: RequestContext,
): Head {
  return { route: isUnmatched ? null : route.key, params, scope: guardedByQuery ? 'url' : scope }
}

/**
 * Sends the data of a page.
 * @param opening decides status and head first; by default the first record does.
 */
export async function sendPageData(
  parts: DataParts,
  page: MatchedPage,
  context: RequestContext,
  opening?: RunningPage['opening'],
): Promise<void> {
  const { modules, renderTimeoutMs } = parts
  const { route, isUnmatched } = page
  const { chain } = route
  // As in the document: the nearest fallback is the root's, inside its layout.
  const notFoundAt = isUnmatched ? findBoundary(chain, 'notFound', 0) : undefined
  if (isUnmatched && notFoundAt === undefined) return sendDocumentHead(context, 404)
  const missing = modules.load(serverParts(route).modules)
  if (missing !== undefined) await missing
  const wanted = wantedOf(route, isUnmatched ? undefined : context.data?.segments)
  const started = startLoaders(neededLoaders(route, wanted, modules), page, context, modules)
  context.startDeadline(renderTimeoutMs)
  const loaders = started instanceof Promise ? await started : started
  if (loaders.faults !== undefined) {
    context.record.refused = 'search params are not valid'
    return sendDocumentHead(context, 400)
  }
  await deliverSegments({ head: headOf(parts, page, context), chain, wanted, loaders, opening, notFoundAt }, context)
}

/** All of the page's segments, unless the request names some and all of them belong to this page. */
function wantedOf({ chain, key }: Route, named: readonly string[] | undefined): ReadonlySet<string> {
  const all = new Set(chain.map((entry) => layoutId(entry.key)))
  all.add(pageId(key))
  // The client expected another route; it cannot know yet which segments of this one it has.
  return named === undefined || named.some((id) => !all.has(id)) ? all : new Set(named)
}
