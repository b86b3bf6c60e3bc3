import { findBoundary } from '../../../client/react/find-boundary.ts'
import { layoutId, pageId } from '../../../client/react/route-view.ts'
import type { ModuleCache } from '../../../client/react/module-cache.ts'
import { ROUTE_DATA_PREFIX, type RouteDataHead } from '../../../shared/protocol/route-data.ts'
import type { Route, RouteTable } from '../../../shared/route-table.ts'
import type { ActionParts, CalledPage } from '../actions/serve-action.ts'
import { serveCall, type CallDelivery } from './serve-call.ts'
import { unmatchedPage } from '../actions/unmatched-page.ts'
import { neededLoaders, segmentLoaders } from '../load/segment-loaders.ts'
import { startLoaders } from '../load/start-loaders.ts'
import type { Admission } from '../../request/admission/admission.ts'
import { sendText } from '../../request/answer/send-plain.ts'
import type { RequestContext } from '../../request/context.ts'
import type { AppRules } from '../rules/apply-rules.ts'
import { createDataAnswer, NO_PROGRESS, redirectTo, sendDocumentHead, sendHead, type Head } from './data-answer.ts'
import { deliverSegments, type RunningPage } from './deliver-segments.ts'

/** What route data is answered from. */
export interface DataParts {
  readonly table: RouteTable
  readonly rules: AppRules
  readonly modules: ModuleCache
  readonly admission: Admission
  readonly actions: ActionParts
  /** Milliseconds after which loaders and deferred values are aborted. */
  readonly renderTimeoutMs: number
  /** What of a URL the choice of its route depends on; see `routeScope`. */
  readonly scope: NonNullable<RouteDataHead['scope']>
}

/** Answers a request for route data, by the decisions that the document of the same URL would meet. */
export async function serveData(parts: DataParts, context: RequestContext): Promise<void> {
  const { rules } = parts
  const asked = rules.subjectOf(context)
  const redirect = rules.redirect(context, asked)
  if (redirect !== undefined) {
    if (redirect.fault === undefined) return sendHead(context, 200, { redirect: redirectTo(redirect.location) })
    context.refusal = `the redirect ${redirect.source} cannot be filled in: ${redirect.fault}`
    return sendDocumentHead(context, redirect.status)
  }
  const resolution = context.namesNothing ? ({ kind: 'none' } as const) : rules.resolve(asked)
  switch (resolution.kind) {
    case 'proxy':
      return sendDocumentHead(context, 200)
    case 'undecodable':
      context.refusal = 'undecodable percent sequence'
      return sendDocumentHead(context, 400)
    case 'bad-destination':
      context.refusal = `the rewrite ${resolution.source} cannot be filled in: ${resolution.fault}`
      return sendDocumentHead(context, resolution.status)
    case 'none':
      return context.action === undefined ? sendUnmatched(parts, context) : serveUnmatched(parts, context)
    case 'route':
      break
  }
  const { route, params } = resolution.match
  context.route = ROUTE_DATA_PREFIX + route.pattern
  if (route.kind === 'handler') return sendDocumentHead(context, 200)
  const { admission } = parts
  // A call takes its place once its body is there.
  const shed = context.action === undefined ? (admission.enter(context) ?? (await admission.turn(context))) : undefined
  if (shed !== undefined) return sendText(context, 503, 'Too busy', shed.headers)
  const page: CalledPage = { route, params, search: resolution.search }
  if (context.action === undefined) return servePage(parts, page, context)
  await serveCall(parts.actions, page, headOf(parts, page), deliveryOf(parts, context), context)
}

function deliveryOf(parts: DataParts, context: RequestContext): CallDelivery {
  // Loaders do not run for data that is of no use: what they drop from a session would be lost for the document.
  if (context.data?.isOtherBuild === true) {
    return {
      page: (delivered, opening) => sendAlone(headOf(parts, delivered), opening, context),
      moveTo: () => undefined,
    }
  }
  return {
    page: (delivered, opening) => servePage(parts, delivered, context, opening),
    moveTo: (location) => moveTo(parts, location, context),
  }
}

/** The result of a call without data of a page. */
function sendAlone(head: Head, opening: NonNullable<RunningPage['opening']>, context: RequestContext): Promise<void> {
  const answer = createDataAnswer(context, NO_PROGRESS)
  opening(answer, head)
  return answer.finish()
}

/** Where an action leads, the data of that page is sent along. */
function moveTo({ rules }: DataParts, location: string, context: RequestContext): CalledPage | undefined {
  const { pathname, search } = splitLocation(location)
  context.askForData(pathname, search, { build: context.data?.build ?? '' })
  const asked = rules.subjectOf(context)
  if (rules.redirect(context, asked) !== undefined) return undefined
  const resolution = rules.resolve(asked)
  if (resolution.kind !== 'route' || resolution.match.route.kind === 'handler') return undefined
  return { ...resolution.match, search: resolution.search }
}

function splitLocation(location: string): { readonly pathname: string; readonly search: string } {
  const { pathname, search } = new URL(location, 'http://localhost')
  return { pathname, search }
}

function headOf({ scope }: DataParts, { route, params }: CalledPage): Head {
  return { route: route.key, params, scope }
}

/** A call of what the page that stands for no page offers. */
function serveUnmatched(parts: DataParts, context: RequestContext): Promise<void> {
  const delivery = deliveryOf(parts, context)
  const page = unmatchedPage(parts.table)
  const { scope } = parts
  const head: Head = { route: null, params: {}, scope }
  const isOtherBuild = context.data?.isOtherBuild === true
  return serveCall(
    parts.actions,
    page,
    head,
    {
      ...delivery,
      page(delivered, opening) {
        if (delivered !== page) return delivery.page(delivered, opening)
        return isOtherBuild ? sendAlone(head, opening, context) : sendNotFound(parts, page, context, opening)
      },
    },
    context,
  )
}

async function sendUnmatched(parts: DataParts, context: RequestContext): Promise<void> {
  const { admission } = parts
  const shed = admission.enter(context) ?? (await admission.turn(context))
  if (shed === undefined) return sendNotFound(parts, unmatchedPage(parts.table), context)
  sendText(context, 503, 'Too busy', shed.headers)
}

/** As the document: the nearest fallback is the root's, inside of its layout. */
async function sendNotFound(
  { scope, modules, renderTimeoutMs }: DataParts,
  { route, params }: CalledPage,
  context: RequestContext,
  opening?: RunningPage['opening'],
): Promise<void> {
  const notFoundAt = findBoundary(route.chain, 'notFound', 0)
  if (notFoundAt === undefined) return sendDocumentHead(context, 404)
  const needed = segmentLoaders(route)
  const missing = modules.load(needed.map(({ module }) => module))
  if (missing !== undefined) await missing
  const loaders = startLoaders(needed, params, context.search, context, modules)
  if (loaders.faults !== undefined) return sendDocumentHead(context, 400)
  context.startDeadline(renderTimeoutMs)
  await deliverSegments(
    {
      head: { route: null, params, scope },
      chain: route.chain,
      wanted: new Set(needed.map(({ id }) => id)),
      loaders,
      opening,
      notFoundAt,
    },
    context,
  )
}

async function servePage(
  parts: DataParts,
  page: CalledPage,
  context: RequestContext,
  opening?: RunningPage['opening'],
): Promise<void> {
  const { modules, renderTimeoutMs } = parts
  const { route, params, search } = page
  const missing = modules.load(segmentLoaders(route).map(({ module }) => module))
  if (missing !== undefined) await missing
  const wanted = wantedOf(route, context.data?.segments)
  const loaders = startLoaders(neededLoaders(route, wanted, modules), params, search, context, modules)
  if (loaders.faults !== undefined) {
    context.refusal = 'search params are not valid'
    return sendDocumentHead(context, 400)
  }
  context.startDeadline(renderTimeoutMs)
  await deliverSegments({ head: headOf(parts, page), chain: route.chain, wanted, loaders, opening }, context)
}

/** All of the page's segments, unless the request names some and all of them are this page's. */
function wantedOf({ chain, key }: Route, named: readonly string[] | undefined): ReadonlySet<string> {
  const all = new Set(chain.map((entry) => layoutId(entry.key)))
  all.add(pageId(key))
  // The client had another route in mind; it cannot know yet which segments it has of this one.
  return named === undefined || named.some((id) => !all.has(id)) ? all : new Set(named)
}
