import type { RequestHandler } from 'express'
import type { ModuleCache } from '../../client/react/module-cache.ts'
import { layoutId, pageId, type RouteView } from '../../client/react/route-view.ts'
import { RefusalSignal } from '../../shared/control-flow.ts'
import type { RouteDataHead } from '../../shared/protocol/route-data.ts'
import type { Route, RouteTable } from '../../shared/route-table.ts'
import type { DocumentCache } from '../stores/cache/document-cache.ts'
import { SearchUses, type AskedDocument } from '../stores/cache/document-names.ts'
import type { Config } from '../config/config.ts'
import { serveData, type DataParts } from './data/serve-data.ts'
import { runLoaders, type LoadResult } from './load/run-loaders.ts'
import { trackSearch } from '../http/track-search.ts'
import type { LoaderArgs } from '../api/loader-types.ts'
import type { Admission, Shed } from '../request/admission/admission.ts'
import type { Shares } from '../http/shares.ts'
import type { DocumentRenderer, DocumentRequest } from './render/serve-document.ts'
import { sendKept } from './render/send-kept.ts'
import { sendConstantPage, sendMethods, sendText } from '../request/answer/send-plain.ts'
import { refuseCall } from '../request/answer/refuse-call.ts'
import { type AfterForm } from './render/form-state.ts'
import { serveForm } from './actions/serve-form.ts'
import type { ActionParts, CalledPage } from './actions/serve-action.ts'
import { unmatchedPage } from './actions/unmatched-page.ts'
import type { RequestContext } from '../request/context.ts'
import { clientKey } from '../http/client-key.ts'
import { mainOrigin } from '../http/public-origins.ts'
import { contextOf } from '../request/attached-context.ts'
import { parseSearch, type RawSearch } from '../http/search-params.ts'
import { admitResource, serveResource } from './serve-resource.ts'
import type { AppRules } from './rules/apply-rules.ts'

/** What the application's URLs are answered with. */
export interface RouteParts {
  readonly table: RouteTable
  readonly rules: AppRules
  readonly renderer: DocumentRenderer
  readonly modules: ModuleCache
  readonly admission: Admission
  /** Answers of resource routes and of other origins in progress. */
  readonly streams: Shares
  readonly documents: DocumentCache
  readonly config: Config
  readonly actions: ActionParts
  /** Ids of the segments whose modules import an action. Empty where nothing was built: then nobody knows. */
  readonly actionSegments: ReadonlySet<string>
  /** What of a URL the choice of its route depends on; see `routeScope`. */
  readonly scope: NonNullable<RouteDataHead['scope']>
}

const PAGE_METHODS = 'GET, HEAD, OPTIONS'
const ACTION_PAGE_METHODS = 'GET, HEAD, POST, OPTIONS'

/**
 * Answers every URL that is not the runtime's: by rewrite, resource route, page, or the not-found page; or by the data
 * of what would answer it.
 */
export function serveRoutes(parts: RouteParts): RequestHandler {
  const { table, rules, modules, config, actions, actionSegments, streams } = parts
  const data: DataParts = { ...parts, renderTimeoutMs: config.renderTimeoutMs }
  const unmatched = unmatchedPage(table)

  function serveUnmatched(context: RequestContext, after?: AfterForm): Promise<void> {
    return showPage(parts, { ...unmatched, search: context.search }, context, after, null)
  }

  return async (req) => {
    const context = contextOf(req)
    if (context.data !== undefined) return serveData(data, context)
    const asked = rules.subjectOf(context)
    if (rules.apply(context, asked)) return undefined
    const resolution = context.namesNothing ? ({ kind: 'none' } as const) : rules.resolve(asked)
    switch (resolution.kind) {
      case 'proxy':
        return admitResource(streams, context, () => rules.proxy(resolution, context))
      case 'undecodable':
        context.refusal = 'undecodable percent sequence'
        return sendText(context, 400, context.refusal)
      case 'bad-destination':
        context.refusal = `the rewrite ${resolution.source} cannot be filled in: ${resolution.fault}`
        return sendText(context, resolution.status, resolution.status < 500 ? 'Bad request' : 'This rewrite is broken')
      case 'none':
        context.kind = 'document'
        if (context.action !== undefined) {
          return serveForm({ ...actions, origins: config.origins }, unmatched, context, (after) =>
            serveUnmatched(context, after),
          )
        }
        return admit(parts, context, async () => {
          const late = isLate(parts, context)
          if (late !== false && (await late)) return undefined
          return serveUnmatched(context)
        })
      case 'route':
        break
    }
    const { route, params } = resolution.match
    context.route = route.pattern
    if (route.kind === 'handler') {
      context.kind = 'resource'
      // Actions are called on pages: a handler would meet the request for a page in place of its own.
      if (context.action !== undefined) return refuseCall(context, 404)
      return admitResource(streams, context, () => serveResource(route, params, resolution.search, context, modules))
    }
    context.kind = 'document'
    const page: CalledPage = { route, params, search: resolution.search }
    const { method } = context.req
    if (method === 'POST') {
      const called = { ...page, takesForms: hasAction(route, actionSegments) }
      return serveForm({ ...actions, origins: config.origins }, called, context, (after) =>
        servePage(parts, page, context, after),
      )
    }
    if (method !== 'GET' && method !== 'HEAD') {
      return refuseMethod(context, hasAction(route, actionSegments) ? ACTION_PAGE_METHODS : PAGE_METHODS)
    }
    return admit(parts, context, () => servePage(parts, page, context), page)
  }
}

function refuseMethod(context: RequestContext, allowed: string): void {
  if (context.req.method === 'OPTIONS') sendMethods(context, allowed)
  else sendConstantPage(context, { status: 405 }, ['Allow', allowed])
}

function hasAction({ key, chain }: Route, actionSegments: ReadonlySet<string>): boolean {
  return actionSegments.has(pageId(key)) || chain.some((entry) => actionSegments.has(layoutId(entry.key)))
}

/** Does the work if there is a place for it. */
function admit(
  parts: RouteParts,
  context: RequestContext,
  work: () => Promise<void>,
  page?: CalledPage,
): Promise<void> | undefined {
  const shed = parts.admission.enter(context)
  return shed === undefined ? work() : answerBusy(parts, shed, context, page)
}

/** A document that was made for somebody else is better than none. */
function answerBusy(
  { documents }: RouteParts,
  { headers }: Shed,
  context: RequestContext,
  page: CalledPage | undefined,
): Promise<void> | undefined {
  const mayBeShared = page !== undefined && context.req.headers.authorization === undefined
  const kept = mayBeShared ? documents.take(askedDocument(page, context), context.pathname) : undefined
  if (kept !== undefined) {
    context.shed = undefined
    context.refusal = undefined
    return sendKept(kept, context)
  }
  sendConstantPage(context, { status: 503, message: 'Too busy. Please try again in a moment.' }, headers)
  return undefined
}

/** A rule may lead one URL to several pages. */
function askedDocument({ route, params, search }: CalledPage, context: RequestContext): AskedDocument {
  return {
    page: JSON.stringify([route.key, context.pathname, params]),
    search: parseSearch(search),
    queries: [context.search, search],
  }
}

/** Hears what a page looks at of search params that no schema has made. */
function watchedView(view: RouteView, { isRaw }: LoadResult, uses: SearchUses): RouteView {
  return isRaw && Object.keys(view.search as RawSearch).length > 0
    ? { ...view, search: trackSearch(view.search as RawSearch, uses) }
    : view
}

/**
 * Waits for a turn; whose turn comes too late is answered here.
 * @returns `false` at once where nobody else waits.
 */
function isLate(
  parts: RouteParts,
  context: RequestContext,
  page?: CalledPage,
  loaded?: boolean,
): Promise<boolean> | false {
  const turn = parts.admission.turn(context, loaded)
  if (turn === undefined) return false
  return turn.then(async (shed) => {
    if (shed !== undefined) await answerBusy(parts, shed, context, page)
    return shed !== undefined
  })
}

/**
 * Waits for a turn, and then shows the page. What waits long is among the old objects by then, and would keep all that
 * it holds until a major collection, the data of the page first of all: so it holds none.
 */
function servePage(parts: RouteParts, page: CalledPage, context: RequestContext, after?: AfterForm): Promise<void> {
  // What an action has done is told in any case: who is refused sends the form again.
  const late = after === undefined && isLate(parts, context, page)
  if (late === false) return showPage(parts, page, context, after)
  return late.then((isOver) => (isOver ? undefined : showPage(parts, page, context)))
}

/** @param key of the route; `null` for the page of URLs that no route answers, which then shows that. */
async function showPage(
  parts: RouteParts,
  page: CalledPage,
  context: RequestContext,
  after?: AfterForm,
  key: string | null = page.route.key,
): Promise<void> {
  const { renderer, modules, config, documents } = parts
  const { route, params, search } = page
  const since = documents.now
  const running = runLoaders(route, params, search, context, modules)
  if (running instanceof Promise) context.startDeadline(config.renderTimeoutMs)
  const loaded = running instanceof Promise ? await running : running
  const { stopped } = loaded
  if (stopped?.kind === 'invalid-search') {
    context.refusal = 'search params are not valid'
    return sendConstantPage(context, { status: 400, message: stopped.faults.join('; ') })
  }
  if (
    after === undefined &&
    running instanceof Promise &&
    (await isLate(parts, context, key === null ? undefined : page, true))
  )
    return
  const thrown = stopped === undefined ? (thrownAfter(after) ?? thrownFor(key)) : thrownBy(stopped, route)
  const uses = new SearchUses()
  for (const meta of Object.values(loaded.meta ?? {})) uses.add(meta.uses)
  const view = viewOf(route, params, loaded, mainOrigin(config.origins))
  await renderer.serve(
    watchedView(view, loaded, uses),
    {
      search: loaded.search,
      route: key,
      deferred: loaded.deferred,
      meta: loaded.meta,
      timings: loaded.timings,
      keep(document) {
        const tags = [...Object.values(loaded.meta ?? {}).flatMap(({ tags = [] }) => tags), ...context.cacheTags]
        const client = clientKey(context.provenance.address)
        documents.keep(askedDocument(page, context), uses, document, { tags, since }, context.pathname, client)
      },
      searchForAll(namesQuery) {
        if (namesQuery) uses.useAll()
        return loaded.isRaw ? uses.pick(loaded.search as RawSearch) : loaded.search
      },
      ...(after?.kind === 'state' ? { posted: after } : {}),
      ...(thrown === undefined ? {} : { thrown }),
    },
    context,
  )
}

function thrownAfter(after: AfterForm | undefined): DocumentRequest['thrown'] {
  return after?.kind === 'thrown' ? { value: after.thrown, boundaryFrom: after.boundaryFrom } : undefined
}

function thrownFor(key: string | null): DocumentRequest['thrown'] {
  return key === null ? { value: new RefusalSignal('notFound'), boundaryFrom: 0 } : undefined
}

function viewOf(route: Route, params: LoaderArgs['params'], loaded: LoadResult, origin: string | undefined): RouteView {
  const { data, search } = loaded
  return { chain: route.chain, params, search, data, ...(origin === undefined ? {} : { origin }) }
}

function thrownBy(
  stopped: Exclude<NonNullable<LoadResult['stopped']>, { kind: 'invalid-search' }>,
  route: Route,
): { readonly value: unknown; readonly boundaryFrom: number } {
  if (stopped.kind === 'redirect') return { value: stopped.signal, boundaryFrom: route.chain.length - 1 }
  return { value: stopped.thrown, boundaryFrom: stopped.boundaryFrom }
}
