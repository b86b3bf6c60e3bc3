import { addTransitionType, startTransition } from 'react'
import { withBasePath, withoutBasePath } from '../shared/base-path.ts'
import type { HydrationState, HydrationValues } from '../shared/protocol/hydration-data.ts'
import { createRouteTable } from '../shared/route-table.ts'
import { hasActions } from './actions/action-reference.ts'
import { createCallStarter, type CallStarter } from './actions/call-starter.ts'
import type { RouteDefinitions } from '../shared/route-definition.ts'
import type { SayTexts } from '../shared/texts.ts'
import { createDraftStarter } from './core/page/draft-starter.ts'
import { endInTime } from './core/data/end-in-time.ts'
import { createHistoryStack } from './core/navigation/history-stack.ts'
import { loadDocument } from './core/page/document-load.ts'
import { createEntryOwner } from './core/page/entry-owner.ts'
import { createJournal } from './core/data/journal.ts'
import { createKnownRoutes, pathOf } from './core/data/known-routes.ts'
import { clickTarget, listenToClicks } from './core/prefetch/link-clicks.ts'
import { savesData, watchLinks } from './core/prefetch/link-prefetch.ts'
import { unhidden } from './core/page/form-members.ts'
import { createStylesheets } from './core/page/load-styles.ts'
import { hrefOf } from './core/data/local-href.ts'
import { createPageEffects } from './core/navigation/page-effects.ts'
import { createPageLoader } from './core/navigation/page-loader.ts'
import { createPrefetcher, type Prefetcher } from './core/prefetch/prefetcher.ts'
import type { PrefetchPriority } from './core/prefetch/prefetch-scheduler.ts'
import { createRetry, waitIn } from './core/data/retry.ts'
import { createRouteCode, type RouteCode } from './core/page/route-code.ts'
import { createRouteStore } from './core/data/route-store.ts'
import { seedCache } from './core/data/seed-cache.ts'
import type { Broadcast, PageEffects } from './core/navigation/router-parts.ts'
import { createRouter, type RouterCore } from './core/navigation/router.ts'
import { whenIdle } from './core/page/when-idle.ts'
import { createSegmentFiles } from './core/page/segment-files.ts'
import type { RouterInsight } from './inspect/router-insight.ts'
import { caughtFallback, type FallbackHost } from './react/caught-fallback.tsx'
import type { ModuleCache } from './react/module-cache.ts'
import type { RouteView } from './react/route-view.ts'
import type {
  NavigationKind,
  Screen,
  LiveRouter,
  LoadedRouter,
  RouterListeners,
  BoundaryProps,
} from './react/router-types.ts'

/** The router, and its parts for inspectors. */
interface StartedRouter extends LoadedRouter {
  readonly insight: RouterInsight
}

/** Options of a client router. */
interface StartOptions {
  readonly window: Window & typeof globalThis
  readonly routes: RouteDefinitions
  readonly modules: ModuleCache
  /** Of the document. */
  readonly state: HydrationState
  /** The page of the document, with its original URL. */
  readonly first: Screen
  /** Of the document. */
  readonly late: HydrationValues['late']
  readonly listeners: RouterListeners
  /** Says the application's own texts. */
  readonly say: SayTexts
  /** Makes React render a screen: outside of a transition, as a deferred value. */
  render(screen: Screen): void
}

/** Name of the channel between the tabs of an application. */
const CHANNEL = `millrace${globalThis.MILLRACE_BASE_PATH || ''}`

const LOOK_AGAIN_MS = 50
const PRELOAD_LIMIT_MS = 1_000 // a page that is always busy may fail like any other

/**
 * Assembles the client router, and connects it to the window. This module is not part of the first load: it loads after
 * hydration, and imports everything that only a second page needs.
 */
export function startRouter(options: StartOptions): StartedRouter {
  const { window, modules, state, first, late, say } = options
  const { location } = window
  const parts = createParts(options, { drafts: () => drafts, mixed: () => router.catchUp() })
  const { known, code, history, prefetcher, storage } = parts
  const here = hrefOf(location)
  // After Back, the address bar may already be at another page's entry.
  if (here === first.href) history.settle()
  const channel = openChannel()
  const broadcast = joinTabs(window, channel, () => started)
  const leave = (href: string, kind: NavigationKind): void =>
    loadDocument(window, withBasePath(href), kind === 'push' ? 'assign' : kind === 'replace' ? kind : 'reload', drafts)
  const effects = createPageEffects({
    ...parts,
    drafts: () => drafts,
    arrived(view) {
      prefetcher.cancelIntents()
      // Let the new page paint first.
      setTimeout(preloadErrorPages, 0, code, view)
      if (hasActions()) setTimeout(calls.preload)
    },
  })
  let last: Screen
  const router = createRouter({
    ...parts,
    first: {
      ...first,
      lifetime: new AbortController(),
      page: { keys: seedCache(parts, state, first), at: state.at, stale: false },
    },
    effects,
    broadcast,
    leave,
    render(screen, isAnswer) {
      const { arrival } = screen
      // React commits a Back navigation synchronously, and would keep the type for the next transition.
      const isAtOnce = window.event?.type === 'popstate'
      last = screen
      // React makes transitions wait for each other's actions, however long those take. A deferred value does not wait,
      // unless it is rendered together with such a transition.
      if (isAtOnce) setTimeout(() => last === screen && screen !== router.screen && options.render(screen))
      else if (!isAnswer) options.render(screen)
      startTransition(() => {
        if (arrival && !isAtOnce) addTransitionType(`navigation-${arrival.kind}`)
        options.render(screen)
      })
    },
  })
  const drafts = createDraftStarter({
    window,
    storage,
    pathname: () => withBasePath(pathOf(router.screen.href)),
    key: () => history.shown || history.current.key,
    entry: createEntryOwner(window, history),
    kind: () => (router.screen.fallback ?? router.screen.view.outcome)?.kind ?? '',
    marks: state.sessions,
    hasActions,
    ...arrivalOf(window),
    channel,
  })
  late?.then(
    ({ meta, sessions }) => {
      drafts.learn(sessions, false, window.performance.timeOrigin)
      parts.store.learn(sessions)
      // Otherwise other data is on screen, or will be.
      if (meta && router.screen.view === first.view && !known.drops) seedCache(parts, state, first, meta)
    },
    () => undefined,
  )
  const calls = createCallStarter({
    ...parts,
    router,
    say,
    broadcast,
    leave: router.leave,
    keepDrafts: () => drafts.save(),
  })

  if (state.deadline !== undefined) endInTime(window, state.deadline)
  history.listen(router.traverse, router.moved, effects.leaving)
  followClicks(window, router, effects)
  prefetchLinks(window, prefetcher, calls)
  preloadWhenLoaded(window, first.view, code, calls)
  followBrowser(window, router)
  // The visitor was faster than this code.
  if (here !== first.href) router.traverse({ href: here, entry: history.current, delta: 0 })

  const fallbackHost = createFallbackHost(modules, code, router)
  const started = Object.assign(router, {
    ...calls,
    hearUsers: drafts.follow,
    isBusy: () => calls.isRunning() || router.isReloading,
    leaving: effects.leaving,
    caught: (boundary: BoundaryProps, value: unknown) => caughtFallback(fallbackHost, boundary, value),
    insight: { ...parts, router },
  })
  return started
}

/** The parts that are independent of screen and React: history, data, code and prefetches. */
function createParts(
  { window, routes, modules, state, listeners }: StartOptions,
  { drafts, mixed }: { drafts(): ReturnType<typeof createDraftStarter>; mixed(): Promise<void> },
) {
  const { document, location } = window
  const now = (): number => Date.now()
  let isOutdated = false
  const insightListeners = new Set<() => void>()
  const onChange = (): void => insightListeners.forEach((listener) => listener())
  const journal = createJournal()
  const table = createRouteTable(routes)
  const known = createKnownRoutes(now, onChange)
  const world = {
    buildId: state.build,
    files: state.files,
    sessions: state.sessions,
    learn: (...news: Parameters<ReturnType<typeof drafts>['learn']>) => drafts().learn(...news),
    pageSessions: () => drafts().pageSessions(),
    mixed,
    asks: state.asks,
    // Looked up at each call: tracing code replaces it later.
    fetch: (...request: Parameters<typeof fetch>) => window.fetch(...request),
    now,
    outdated: () => void (isOutdated = true),
    busy: (milliseconds: number) => prefetcher.pause(milliseconds),
    journal,
  }
  const store = createRouteStore(table, known, world, onChange)
  const files = createSegmentFiles(state.build, async (url) => (await fetch(url, { priority: 'low' })).json())
  const code = createRouteCode({ document, modules, files, styles: createStylesheets(document) })
  const parts = {
    window,
    origin: location.origin,
    publicOrigin: state.origin,
    online: () => window.navigator.onLine,
    now,
    outdated: () => isOutdated,
    onChange,
    listeners,
    tell: () => listeners.changes.forEach((listener) => listener()),
    history: createHistoryStack(window, () => Math.random().toString(36).slice(2)),
    storage: sessionStorageOf(window),
    journal,
    table,
    known,
    world,
    store,
    code,
    retry: createRetry(Math.random, waitIn(window)),
    subscribe(listener: () => void) {
      insightListeners.add(listener)
      return () => insightListeners.delete(listener)
    },
  }
  const prefetcher = createPrefetcher(parts)
  return { ...parts, prefetcher, loader: createPageLoader(parts) }
}

/** Handles clicks on links of this site instead of the browser. */
function followClicks(window: Window, router: RouterCore, effects: PageEffects): void {
  listenToClicks(window, (event) => {
    const target = clickTarget(event, window.location)
    if (target?.isWithin) effects.leaving()
    else if (target) {
      event.preventDefault()
      router.follow(target.anchor, target.url)
    }
  })
}

/** Prefetches pages for links, and the code of actions when a visitor first uses a form. */
function prefetchLinks(window: StartOptions['window'], prefetcher: Prefetcher, calls: CallStarter): void {
  const { document, location, navigator } = window
  const fetchAhead = ({ pathname, search }: URL, when: PrefetchPriority): void => {
    // A link to the page on screen leads within it, or reloads its data.
    if (pathname + search !== location.pathname + location.search)
      prefetcher.add(withoutBasePath(pathname + search), when)
  }
  watchLinks({
    document,
    window,
    intent: (url) => fetchAhead(url, 'intent'),
    turned({ target }) {
      if (target instanceof Element && unhidden(target).closest('form')) calls.preload()
    },
    visible: fetchAhead,
    hidden: (urls) => prefetcher.cancel(urls.map((url) => withoutBasePath(url.pathname + url.search))),
    allowed: () => !savesData(navigator),
  })
}

/** After the document has loaded, loads code that its page may need when the network has failed. */
function preloadWhenLoaded(window: Window, view: RouteView, code: RouteCode, calls: CallStarter): void {
  const { readyState } = window.document
  const preload = (): void => {
    if (hasActions()) calls.preload()
    // Retry files of the document that have failed.
    void code.preload(view)
    preloadErrorPages(code, view)
  }
  if (readyState === 'complete') preload()
  // An interrupted document has not finished loading, and then the server is unreachable.
  else if (readyState === 'loading') whenIdle(window, preload, PRELOAD_LIMIT_MS)
  else window.addEventListener('load', preload)
}

/** The page's own error page, and the outer ones, for failures in other segments. */
function preloadErrorPages(code: RouteCode, { chain }: RouteView): void {
  chain.forEach(({ definition }, at) => {
    if (definition.error) void code.preload({ chain, outcome: { kind: 'error', at } }, true)
  })
}

/** Follows the network state and the life cycle of the document. */
function followBrowser(window: StartOptions['window'], router: RouterCore): void {
  window.addEventListener('online', () => router.setOnline(true))
  window.addEventListener('offline', () => router.setOnline(false))
  if (isFromCache(window)) router.forget(['/*'])
  // Leaving for another document cancels the previous click: it must not replace the page on return.
  window.addEventListener('pagehide', router.giveUp)
  // A page that the browser has kept as it was has old data too.
  window.addEventListener('pageshow', (event) => event.persisted && router.forget(['/*']))
}

/** On Back, the browser takes a document from its cache, however old, without a request. */
function isFromCache({ performance }: StartOptions['window']): boolean {
  const [load] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
  return load?.type === 'back_forward' && load.transferSize === 0
}

/** How the document has come. Speculation rules have the browser ask for it up to five minutes before the click. */
function arrivalOf(window: StartOptions['window']) {
  const [load] = window.performance.getEntriesByType('navigation') as PrefetchTiming[]
  const isOld = isFromCache(window)
  return {
    isFromCache: isOld || load?.deliveryType === 'navigational-prefetch',
    isRedirected: !isOld && Boolean(load?.redirectCount),
  }
}

/** https://wicg.github.io/nav-speculation/prefetch.html#performance-navigation-timing-extension */
interface PrefetchTiming extends PerformanceNavigationTiming {
  readonly deliveryType?: string
}

function createFallbackHost(modules: ModuleCache, code: RouteCode, router: RouterCore): FallbackHost {
  return {
    modules,
    load: code.load,
    redirect: router.redirect,
    async shown(shape, visit) {
      // At once: it is not painted yet.
      code.show(shape)
      // A boundary may be in the document before its screen is the router's.
      await undefined
      if (visit === router.screen.visit) router.fallBack(shape.outcome)
    },
  }
}

/** A channel to the other tabs; to none if the browser forbids it, which it does by throwing. */
function openChannel(): BroadcastChannel {
  try {
    return new BroadcastChannel(CHANNEL)
  } catch {
    return Object.assign(new EventTarget(), { postMessage: () => undefined }) as unknown as BroadcastChannel
  }
}

/** The storage of this tab; `undefined` if the browser forbids it, which it does by throwing. */
function sessionStorageOf(window: Window): Storage | undefined {
  try {
    return window.sessionStorage
  } catch {
    return undefined
  }
}

/**
 * Connects the tabs of this site: what another tab has dropped is reloaded once this tab is visible, because a hundred
 * tabs must not fetch at once, and unless it comes by itself. What is of a former session is reloaded at once: its message
 * has a `true`.
 * @returns tells the other tabs what to drop: tags and paths, as for `revalidate`.
 */
function joinTabs(
  { document }: Window,
  channel: BroadcastChannel,
  router: () => LiveRouter & Pick<RouterCore, 'catchUp'>,
): Broadcast {
  const pending = new Map<string, number | undefined>()
  const tell = (isOther?: unknown): void => {
    const { drop, catchUp, isBusy } = router()
    // What is of a former session does not stay until the tab is visible, nor for as long as a call takes.
    if (isOther !== true) {
      if (document.visibilityState === 'hidden') return
      if (isBusy()) return void setTimeout(tell, LOOK_AGAIN_MS)
    }
    const older = [...pending].filter(([target, at]) => drop([target], at))
    pending.clear()
    if (older.length > 0) void catchUp()
  }
  channel.addEventListener('message', ({ data }) => {
    if (!Array.isArray(data)) return
    const at = data.find((one) => typeof one === 'number')
    for (const one of data) if (typeof one === 'string') pending.set(one, at)
    tell(data.includes(true))
  })
  document.addEventListener('visibilitychange', tell)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel reaches its own origin only
  return (targets, at) => channel.postMessage([...targets, at])
}
