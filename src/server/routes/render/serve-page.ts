import type { ModuleCache } from '../../../client/react/module-cache.ts'
import type { RouteView } from '../../../client/react/route-view.ts'
import type { Config } from '../../config/config.ts'
import { clientKey } from '../../http/client-key.ts'
import { mainOrigin } from '../../http/public-origins.ts'
import { isSecure, siteOf } from '../../http/trusted-proxy.ts'
import { parseSearch } from '../../http/search-params.ts'
import type { RawSearch } from '../../../shared/raw-search.ts'
import { trackSearch } from '../../values/track-search.ts'
import type { Admission, Shed } from '../../request/admission/admission.ts'
import { textsOf } from '../../request/answer/texts.ts'
import { sendConstantPage } from '../../request/answer/send-plain.ts'
import type { RequestContext } from '../../request/context.ts'
import type { DocumentCache } from '../../stores/cache/document-cache.ts'
import { SearchUses, type AskedDocument } from '../../stores/cache/document-names.ts'
import type { MatchedRoute } from '../decide/decision.ts'
import { endWithAnswer, stoppedByUrl } from '../decide/stopped.ts'
import { encodeLoaded } from '../load/loaded-data.ts'
import { runLoaders, type LoadResult } from '../load/run-loaders.ts'
import { isCrawler } from './crawler.ts'
import type { AfterForm } from './form-state.ts'
import { sendInstead } from './send-kept.ts'
import type { DocumentRenderer } from './serve-document.ts'

/** Parts for serving pages. */
export interface PageParts {
  readonly renderer: DocumentRenderer
  readonly modules: ModuleCache
  readonly admission: Admission
  readonly documents: DocumentCache
  readonly config: Config
}

/**
 * Serves the document of a page, if there is a place for it and its turn comes in time. A request that waits long is in
 * old space by then, and everything that it references, above all the page's data, would stay until a major collection;
 * so it references none.
 */
export function servePage(parts: PageParts, page: MatchedRoute, context: RequestContext): Promise<void> | undefined {
  const entered = parts.admission.enter(context)
  return entered instanceof Promise
    ? entered.then((shed) => serveAdmitted(parts, shed, page, context))
    : serveAdmitted(parts, entered, page, context)
}

/** Waits for a place and a turn, as `servePage`. @returns whether there is one; otherwise the request was answered. */
export async function isAdmitted(parts: PageParts, page: MatchedRoute, context: RequestContext): Promise<boolean> {
  const shed = await parts.admission.enter(context)
  if (shed === undefined) return !(await isLate(parts, page, context))
  await answerBusy(parts, shed, page, context)
  return false
}

function serveAdmitted(
  parts: PageParts,
  shed: Shed | undefined,
  page: MatchedRoute,
  context: RequestContext,
): Promise<void> | undefined {
  if (shed !== undefined) return answerBusy(parts, shed, page, context)
  const late = isLate(parts, page, context)
  if (late === false) return showPage(parts, page, context)
  return late.then((isOver) => (isOver ? undefined : showPage(parts, page, context)))
}

/** A document that was rendered for another visitor is better than none. */
function answerBusy(
  { documents }: PageParts,
  { headers, delay }: Shed,
  page: MatchedRoute,
  context: RequestContext,
): Promise<void> | undefined {
  const mayBeShared =
    page.kind !== 'none' && context.making === undefined && context.req.headers.authorization === undefined
  const kept = mayBeShared ? documents.take(askedDocument(page, context)) : undefined
  if (kept !== undefined) {
    context.record.shed = undefined
    context.record.refused = undefined
    return sendInstead(kept, context)
  }
  const send = (): void => {
    const texts = textsOf(context)
    sendConstantPage(context, { status: 503, message: texts.overloaded, texts }, headers)
  }
  const delayed = delay()
  if (delayed === undefined) send()
  return delayed?.then(send)
}

/** A rule may lead one URL to several pages, and middleware may show another site on each host. */
function askedDocument({ route, params, search }: MatchedRoute, context: RequestContext): AskedDocument {
  return {
    page: JSON.stringify([
      siteOf(context.clientAddress),
      isSecure(context.clientAddress),
      route.key,
      context.pathname,
      params,
      context.services.site?.publicEnvHash,
    ]),
    search: parseSearch(search),
    queries: [context.search, search],
  }
}

/** The view, tracking which search params the page reads, unless a schema has parsed them. */
function watchedView(view: RouteView, { isRaw }: LoadResult, uses: SearchUses): RouteView {
  return isRaw ? { ...view, search: trackSearch(view.search as RawSearch, uses) } : view
}

/**
 * Waits for a turn, and answers if it is too late.
 * @param loaded whether the loaders are done.
 * @returns `false` at once if nobody else waits.
 */
function isLate(
  parts: PageParts,
  page: MatchedRoute,
  context: RequestContext,
  loaded?: boolean,
): Promise<boolean> | false {
  const turn = parts.admission.turn(context, loaded)
  if (turn === undefined) return false
  return turn.then(async (shed) => {
    if (shed === undefined) return false
    endWithAnswer(context)
    await answerBusy(parts, shed, page, context)
    return true
  })
}

/** Whether a visitor gets the shell before the page's loader is done. Crawlers and files wait, for the true status. */
function isEarly({ kind, route }: MatchedRoute, { req, making }: RequestContext): boolean {
  if (kind === 'none' || route.definition.shell !== 'early' || making !== undefined) return false
  return !isCrawler(req.headers['user-agent'])
}

/**
 * Runs the loaders of a page and renders it.
 * @param after the result of a form that was posted to the page.
 */
export async function showPage(
  parts: PageParts,
  page: MatchedRoute,
  context: RequestContext,
  after?: AfterForm,
): Promise<void> {
  const { renderer, modules, config, documents } = parts
  if (context.making?.mayBegin() === false) {
    context.making.isOvertaken = true
    return
  }
  const since = documents.now
  const running = runLoaders(page, context, modules, after === undefined && isEarly(page, context))
  if (running instanceof Promise) context.startDeadline(config.renderTimeoutMs)
  const loaded = running instanceof Promise ? await running : running
  const { refused } = loaded
  if (refused !== undefined) {
    context.record.refused = refused.reason
    return sendConstantPage(context, { status: 400, message: refused.faults.join('; ') })
  }
  if (after !== undefined) await parts.admission.turnWhenDue(context)
  else if (running instanceof Promise && (await isLate(parts, page, context, true))) return
  const { making } = context
  if (making !== undefined) {
    making.keepFor(loaded.shared)
    // What belongs to visitors is made for each of them.
    if (making.slots.size === 0) making.data = encodeLoaded(loaded, page.route, context, making)
  }
  const uses = making?.uses ?? new SearchUses()
  for (const meta of Object.values(loaded.meta ?? {})) uses.add(meta.uses)
  const { route, params } = page
  const { data, search } = loaded
  const view: RouteView = { chain: route.chain, params, search, data, origin: mainOrigin(config.origins) }
  await renderer.serve(
    watchedView(view, loaded, uses),
    {
      search,
      isRaw: loaded.isRaw,
      route: page.kind === 'none' ? null : route.key,
      deferred: loaded.deferred,
      meta: loaded.meta,
      late: loaded.late,
      keep(document) {
        const tags = [...Object.values(loaded.meta ?? {}).flatMap(({ tags = [] }) => tags), ...context.cacheTags]
        const client = clientKey(context.clientAddress.address)
        const { pathname } = context
        const asked = making?.asked ?? askedDocument(page, context)
        const used = making?.usesSoFar ?? uses
        const { data, reads } = making ?? {}
        const kept = documents.keep({ asked, uses: used, reads, document, data, tags, since, pathname, client })
        if (making !== undefined) making.kept = kept
      },
      searchForAll(namesQuery) {
        if (namesQuery) uses.useAll()
        return loaded.isRaw ? uses.pick(loaded.search as RawSearch) : loaded.search
      },
      posted: after?.posted,
      stopped: loaded.stopped ?? after?.stopped ?? stoppedByUrl(page),
    },
    context,
  )
}
