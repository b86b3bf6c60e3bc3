import { addTransitionType, startTransition } from 'react'
import type { HydrationState } from '../shared/protocol/hydration-data.ts'
import { createRouteTable } from '../shared/route-table.ts'
import { hasActions } from './actions/action-reference.ts'
import { createCallStarter } from './actions/call-starter.ts'
import type { UnsentTexts } from './actions/unsent-bar.ts'
import { keepDrafts } from './core/page/draft-keeper.ts'
import { endInTime } from './core/data/end-in-time.ts'
import { createHistoryStack } from './core/navigation/history-stack.ts'
import { loadDocument } from './core/page/document-load.ts'
import { createJournal } from './core/data/journal.ts'
import { createKnownRoutes, pathOf } from './core/data/known-routes.ts'
import { clickTarget, listenToClicks } from './core/prefetch/link-clicks.ts'
import { savesData, watchLinks } from './core/prefetch/link-prefetch.ts'
import { createStylesheets } from './core/page/load-styles.ts'
import { withoutHash } from './core/data/local-href.ts'
import { createPageEffects } from './core/navigation/page-effects.ts'
import { createPageLoader } from './core/navigation/page-loader.ts'
import { createPrefetcher } from './core/prefetch/prefetcher.ts'
import type { PrefetchPriority } from './core/prefetch/prefetch-scheduler.ts'
import { createRetry } from './core/data/retry.ts'
import { createRouteCode } from './core/page/route-code.ts'
import { createRouteStore, dataIds } from './core/data/route-store.ts'
import { createRouter } from './core/navigation/router.ts'
import { createScrollPositions } from './core/page/scroll-positions.ts'
import { whenIdle } from './core/page/when-idle.ts'
import { createSegmentFiles } from './core/page/segment-files.ts'
import { sessionStorageOf } from './core/page/session-storage.ts'
import type { RouterInsight } from './inspect/router-insight.ts'
import type { TypedSegment } from './module-types.ts'
import { caughtFallback, type FallbackHost } from './react/caught-fallback.tsx'
import type { ModuleCache } from './react/module-cache.ts'
import type { RouteView } from './react/route-view.ts'
import type { NavigationKind, Screen, LoadedRouter, RouterListeners, BoundaryProps } from './react/router-types.ts'

/** The router, and its parts for those who look at it. */
export interface StartedRouter extends LoadedRouter {
  readonly insight: RouterInsight
}

/** What a client router begins with. */
export interface StartOptions {
  readonly window: Window & typeof globalThis
  readonly routes: Readonly<Record<string, TypedSegment>>
  readonly modules: ModuleCache
  /** Of the document. */
  readonly state: HydrationState
  /** The page that the document brought, under the URL that it came from. */
  readonly first: Screen
  readonly listeners: RouterListeners
  /** What visitors are told of calls that were not sent, in other words than the runtime's. */
  readonly unsentTexts?: Partial<UnsentTexts> | undefined
  /** Has React render a screen. */
  render(screen: Screen): void
}

const PRELOAD_LIMIT_MS = 1_000 // a page that is always busy may fail like any other

/** Name of the channel between the tabs of a site. */
const CHANNEL = 'millrace'

/**
 * Puts the parts of the client router together, and binds them to the window. This module is no part of the first load:
 * it comes when the document is alive, and nothing that only a second page needs should be imported from elsewhere.
 */
export function startRouter({
  window,
  routes,
  modules,
  state,
  first,
  listeners,
  unsentTexts,
  render,
}: StartOptions): StartedRouter {
  const { document, location } = window
  const table = createRouteTable(routes)
  const now = (): number => Date.now()
  let outdated = false

  const history = createHistoryStack(window, () => Math.random().toString(36).slice(2))
  const here = location.pathname + location.search + location.hash
  const storage = sessionStorageOf(window)
  const positions = createScrollPositions(window, storage, () => history.shown)
  const styles = createStylesheets(document)
  const files = createSegmentFiles(state.build, async (url) => {
    const answer = await fetch(url, { priority: 'low' })
    if (!answer.ok) throw new Error(`Failed to load script: ${url}`)
    return answer.json()
  })
  const journal = createJournal()
  const insightListeners = new Set<() => void>()
  const changed = (): void => insightListeners.forEach((listener) => listener())
  const known = createKnownRoutes(now, changed)
  const world = {
    buildId: state.build,
    // Looked up at each call: what traces requests comes later than this.
    fetch: (...request: Parameters<typeof fetch>) => window.fetch(...request),
    now,
    outdated: () => void (outdated = true),
    busy: (milliseconds: number) => prefetcher.pause(milliseconds),
    journal,
  }
  const store = createRouteStore(table, known, world, changed)
  const code = createRouteCode({ document, modules, files, styles })
  const retry = createRetry(Math.random, wait)
  const loader = createPageLoader({
    table,
    store,
    code,
    origin: location.origin,
    publicOrigin: state.origin,
    online: () => window.navigator.onLine,
    retry,
  })
  const prefetcher = createPrefetcher({
    store,
    code,
    origin: location.origin,
    now,
    enabled: () => !outdated,
    onChange: changed,
  })
  // Whoever has gone back meanwhile is at an entry of another page.
  if (here === first.href) history.settle()
  const effects = createPageEffects({ document, history, positions, code })
  const drafts = keepDrafts(window, storage, () => withoutHash(pathOf(router.screen.href)))
  const channel = 'BroadcastChannel' in window ? new BroadcastChannel(CHANNEL) : undefined
  const router = createRouter({
    first: { ...first, lifetime: new AbortController(), page: { ...seed(), stale: false } },
    listeners,
    known,
    store,
    loader,
    history,
    journal,
    window,
    now,
    outdated: () => outdated,
    prefetch: (href) => prefetcher.add(href, 'intent'),
    broadcast,
    host: {
      render: (screen) => {
        const { arrival } = screen
        // React commits at once what the back button brings, and would keep the type for the next transition.
        const isAtOnce = window.event?.type === 'popstate'
        // React lets transitions wait for each other's actions, however long those take.
        if ((arrival ?? screen.fallback) && calls.isRunning) return render(screen)
        startTransition(() => {
          if (arrival && !isAtOnce) addTransitionType(`navigation-${arrival.kind}`)
          render(screen)
        })
      },
      leaving: effects.leaving,
      arrived(screen) {
        effects.arrived(screen)
        if (screen.arrival === undefined) return
        drafts.restore()
        prefetcher.cancelIntents()
        // The new page may be painted first.
        setTimeout(preloadErrorPages, 0, screen.view)
        if (hasActions()) setTimeout(calls.preload)
      },
      leave,
    },
  })

  const calls = createCallStarter({
    window,
    world,
    known,
    store,
    retry,
    router,
    listeners,
    texts: unsentTexts,
    outdated: () => outdated,
    broadcast,
    leave,
    keepDrafts: drafts.save,
  })

  function broadcast(targets: readonly string[]): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel reaches its own origin only
    channel?.postMessage(targets)
  }

  function leave(href: string, kind: NavigationKind): void {
    loadDocument(window, href, kind === 'push' ? 'assign' : kind === 'replace' ? 'replace' : 'reload', drafts)
  }

  /** What came with the document is in the cache as if it had been fetched. */
  function seed(): { readonly keys: readonly string[] } {
    const { route: key, params, meta = {}, scope = 'path', outcome } = state
    const { data, search } = first.view
    const href = withoutHash(first.href)
    const route = table.routes.find((one) => one.key === key)
    if (route === undefined || outcome !== undefined) return { keys: [] }
    known.keepVerdict(href, { route: route.key, params, scope })
    const keys = dataIds(route).map((id) => {
      known.noteUses(id, meta[id]?.uses)
      const cacheKey = known.keyOf(id, href, params)
      const values = { data: data[id], ...(id.endsWith('#page') ? { search } : {}) }
      // What JSON cannot say is not measured by it either; as much as one document brings may go beside the bound.
      known.keepSegment(id, href, cacheKey, {
        ...meta[id],
        values,
        size: JSON.stringify(state.values ? values : 0).length,
      })
      return cacheKey
    })
    known.shown(keys, href)
    return { keys }
  }

  function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const over = new AbortController()
      const end = (): void => {
        clearTimeout(timer)
        over.abort()
        resolve()
      }
      const timer = setTimeout(end, milliseconds)
      signal.addEventListener('abort', end, { signal: over.signal })
      window.addEventListener('online', end, { signal: over.signal })
    })
  }

  function fetchAhead({ pathname, search }: URL, when: PrefetchPriority): void {
    // A link to the page on screen leads within it, or asks for it anew.
    if (pathname + search !== location.pathname + location.search) prefetcher.add(pathname + search, when)
  }

  /** They must be here when nothing can be fetched: its own, and the outer ones, where it is another area that fails. */
  function preloadErrorPages({ chain }: RouteView): void {
    chain.forEach(({ definition }, at) => {
      if (definition.error) void code.preload({ chain, outcome: { kind: 'error', at } }, true)
    })
  }

  /** A hundred tabs must not ask at once for what nobody looks at. */
  function whenVisible(work: () => void): void {
    if (document.visibilityState === 'visible') return work()
    document.addEventListener('visibilitychange', work, { once: true })
  }

  if (state.deadline !== undefined) endInTime(window, state.deadline)
  history.listen(router.traverse, router.moved, effects.leaving)
  effects.hydrated()
  listenToClicks(window, (event) => {
    const target = clickTarget(event, location)
    if (target?.isWithin) effects.leaving()
    else if (target) {
      event.preventDefault()
      router.follow(target.anchor, target.url)
    }
  })
  window.addEventListener('online', () => router.setOnline(true))
  window.addEventListener('offline', () => router.setOnline(false))
  channel?.addEventListener('message', ({ data }) => {
    if (Array.isArray(data)) whenVisible(() => router.forget(data.filter((one) => typeof one === 'string')))
  })
  watchLinks({
    document,
    window,
    intent: (url) => fetchAhead(url, 'intent'),
    turned({ target }) {
      if (target instanceof Element && target.closest('form')) calls.preload()
    },
    visible: fetchAhead,
    hidden: (urls) => prefetcher.cancel(urls.map((url) => url.pathname + url.search)),
    allowed: () => !savesData(window.navigator),
  })
  const whenLoaded = (): void => {
    if (hasActions()) calls.preload()
    // What of the document's own has failed is tried once more.
    void code.preload(first.view)
    preloadErrorPages(first.view)
  }
  if (document.readyState === 'complete') whenLoaded()
  // A document that streams has not loaded when it breaks off, and then there is no server left to ask.
  else if (document.readyState === 'loading') whenIdle(window, whenLoaded, PRELOAD_LIMIT_MS)
  else window.addEventListener('load', whenLoaded, { once: true })
  // The browser takes a document out of its cache for the back button, however old it is, and asks nobody.
  const [load] = window.performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
  if (load?.type === 'back_forward' && load.transferSize === 0) router.forget(['/*'])
  // Whoever goes on by another document has given up the click before: it must not take the page away on the way back.
  window.addEventListener('pagehide', router.giveUp)
  // The visitor was faster than this code.
  if (here !== first.href) router.traverse({ href: here, entry: history.current, delta: 0 })

  const fallbackHost: FallbackHost = {
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

  return Object.assign(router, {
    call: calls.call,
    uploads: calls.uploads,
    leaving: effects.leaving,
    caught: (boundary: BoundaryProps, value: unknown) => caughtFallback(fallbackHost, boundary, value),
    insight: {
      router,
      known,
      store,
      prefetcher,
      journal,
      subscribe(listener: () => void) {
        insightListeners.add(listener)
        return () => insightListeners.delete(listener)
      },
    },
  })
}
