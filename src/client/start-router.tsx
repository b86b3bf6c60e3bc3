import { addTransitionType, startTransition, type ComponentType, type ReactNode } from 'react'
import type { Root } from 'react-dom/client'
import type { RouteTable } from '../shared/route-table.ts'
import { keepDrafts } from './core/draft-keeper.ts'
import { createHistoryStack } from './core/history-stack.ts'
import { loadDocument } from './core/document-load.ts'
import { createJournal } from './core/journal.ts'
import { createKnownRoutes, pathOf } from './core/known-routes.ts'
import { clickTarget } from './core/link-clicks.ts'
import { savesData, watchLinks } from './core/link-prefetch.ts'
import { createStylesheets } from './core/load-styles.ts'
import { createPageEffects } from './core/page-effects.ts'
import { createPageLoader } from './core/page-loader.ts'
import { createPrefetcher } from './core/prefetcher.ts'
import { createRouteCode } from './core/route-code.ts'
import { createRouteStore } from './core/route-store.ts'
import { createRouter, type RouterCore, type RouterScreen } from './core/router.ts'
import { createScrollPositions } from './core/scroll-positions.ts'
import { createSegmentFiles, type SegmentFiles } from './core/segment-files.ts'
import { segmentKey } from './core/segment-key.ts'
import { sessionStorageOf } from './core/session-storage.ts'
import type { DocumentProps } from './module-types.ts'
import { ClientRoot } from './react/client-root.tsx'
import type { ModuleCache } from './react/module-cache.ts'
import { routeTree } from './react/route-tree.tsx'
import { dataIds, findBoundary, viewMetadata, type RouteView } from './react/route-view.ts'
import type { InspectedRouter } from './router-insight.ts'
import type { HandOffState } from '../shared/protocol/hand-off.ts'

/** What a client router begins with. */
export interface StartOptions {
  readonly window: Window & typeof globalThis
  readonly table: RouteTable
  readonly document: ComponentType<DocumentProps>
  readonly modules: ModuleCache
  readonly state: HandOffState
  /** The page that the document brought. */
  readonly view: RouteView
}

/** A client router, before it has a React root. */
export interface StartedRouter {
  /** The tree of the page that the document brought. */
  readonly tree: ReactNode
  /** Gives it the root that hydrates `tree`. */
  attach(root: Root): void
}

const NO_SEARCH = new URLSearchParams()

/** Name of the channel between the tabs of a site. */
const CHANNEL = 'millrace'

/** Puts the parts of the client router together, and binds them to the window. */
export function startRouter(options: StartOptions): StartedRouter {
  const { window, table, document: Document, modules, state, view } = options
  const { document, location } = window
  const now = (): number => Date.now()
  const lifecycle: { root?: Root; files?: SegmentFiles; outdated: boolean } = { outdated: false }

  const history = createHistoryStack(window, () => Math.random().toString(36).slice(2))
  const storage = sessionStorageOf(window)
  const positions = createScrollPositions(window, storage, () => history.current.key)
  const styles = createStylesheets(document)
  const files = createSegmentFiles(state.build, async (url) => {
    const answer = await fetch(url, { priority: 'low' })
    if (!answer.ok) throw new Error(`Failed to load script: ${url}`)
    return answer.json()
  })
  const journal = createJournal()
  const known = createKnownRoutes(now)
  const insightListeners = new Set<() => void>()
  const changed = (): void => insightListeners.forEach((listener) => listener())
  const store = createRouteStore(
    table,
    known,
    {
      buildId: state.build,
      fetch: window.fetch.bind(window),
      now,
      outdated() {
        lifecycle.outdated = true
      },
      journal,
    },
    changed,
  )
  const code = createRouteCode({ document, modules, files, styles })
  const loader = createPageLoader({
    table,
    known,
    store,
    code,
    origin: location.origin,
    publicOrigin: state.origin,
    random: Math.random,
    wait,
  })
  const prefetcher = createPrefetcher({
    store,
    code,
    now,
    enabled: () => !lifecycle.outdated,
    onChange: changed,
    localHref: loader.localHref,
  })
  const effects = createPageEffects({ document, history, positions, styles, files: () => lifecycle.files })

  const first: RouterScreen = {
    href: location.pathname + location.search + location.hash,
    view,
    visit: 0,
    page: { styles: [], ...seed(), stale: false, release: () => undefined },
  }
  const drafts = keepDrafts(window, storage, () => pathOf(router.screen.href).replace(/#.*/s, ''))
  const channel = 'BroadcastChannel' in window ? new BroadcastChannel(CHANNEL) : undefined
  const router: RouterCore & InspectedRouter = createRouter({
    first,
    known,
    loader,
    history,
    journal,
    window,
    now,
    outdated: () => lifecycle.outdated,
    prefetch: (href) => prefetcher.add(href, 'intent'),
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel reaches its own origin only
    broadcast: (targets) => channel?.postMessage(targets),
    host: {
      render(screen) {
        startTransition(() => {
          if (screen.arrival !== undefined) addTransitionType(`navigation-${screen.arrival.kind}`)
          lifecycle.root?.render(treeOf(screen))
        })
      },
      arrived(screen) {
        effects.arrived(screen)
        if (screen.arrival === undefined) return
        prefetcher.cancelIntents()
        preloadErrorPage(screen.view)
      },
      leave(href, kind) {
        loadDocument(window, href, kind === 'push' ? 'assign' : kind === 'replace' ? 'replace' : 'reload', drafts)
      },
    },
  })

  /** What came with the document is in the cache as if it had been fetched. */
  function seed(): { readonly keys: readonly string[] } {
    const { route: key, params, meta = {}, scope = 'path', outcome } = state
    const href = location.pathname + location.search
    const route = table.routes.find((one) => one.key === key)
    if (route === undefined || outcome !== undefined) return { keys: [] }
    known.keepVerdict(href, { route: route.key, params, scope })
    const keys = dataIds(route).map((id) => {
      known.noteUses(id, meta[id]?.uses)
      const cacheKey = known.keyOf(id, href, params)
      const values = { data: view.data[id], ...(id.endsWith('#page') ? { search: view.search } : {}) }
      known.keepSegment(id, href, cacheKey, { ...meta[id], values, size: JSON.stringify(values)?.length ?? 0 })
      return cacheKey
    })
    known.shown(keys)
    return { keys }
  }

  function treeOf(screen: RouterScreen): ReactNode {
    const metadata = viewMetadata(screen.view, modules)
    return (
      <ClientRoot
        router={router}
        screen={screen}
        onLeave={effects.leaving}
        onShown={(shown: RouterScreen) => router.committed(shown)}
      >
        {routeTree({
          document: Document,
          view: screen.view,
          modules,
          metadata,
          client: {
            visit: screen.visit,
            // A page outlives its search params: a form that sets them must not lose its focus.
            keyOf: (id) => segmentKey(id, screen.view.params, NO_SEARCH, []),
            retry: router.refresh,
          },
        })}
      </ClientRoot>
    )
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

  function attach(root: Root): void {
    lifecycle.root = root
    history.listen(router.traverse, router.moved)
    effects.hydrated(first)
    window.addEventListener('click', (event) => {
      const target = clickTarget(event, location)
      if (target === undefined) return
      event.preventDefault()
      router.follow(target.anchor, target.url)
    })
    window.addEventListener('online', () => router.setOnline(true))
    window.addEventListener('offline', () => router.setOnline(false))
    channel?.addEventListener('message', ({ data }) => {
      if (Array.isArray(data)) whenVisible(() => router.forget(data.filter((one) => typeof one === 'string')))
    })
    watchLinks({
      document,
      window,
      intent: (url) => prefetcher.add(url.pathname + url.search, 'intent'),
      visible: (url, when) => prefetcher.add(url.pathname + url.search, when),
      hidden: (url) => prefetcher.cancel(url.pathname + url.search),
      allowed: () => !savesData(window.navigator),
    })
    const whenLoaded = (): void => {
      const listed = files.get().then((one) => (lifecycle.files = one))
      listed.then(
        () => preloadErrorPage(first.view),
        () => undefined,
      )
    }
    if (document.readyState === 'complete') whenLoaded()
    else window.addEventListener('load', whenLoaded, { once: true })
    router.insight = { router, known, store, prefetcher, journal, subscribe: subscribeToInsight }
  }

  /** It must be here when nothing can be fetched. */
  function preloadErrorPage({ chain }: RouteView): void {
    const at = findBoundary(chain, 'error', chain.length - 1)
    if (at !== undefined) void code.preload({ chain, outcome: { kind: 'error', at } })
  }

  function subscribeToInsight(listener: () => void): () => void {
    insightListeners.add(listener)
    const ends = [known.subscribe(listener), router.subscribe(listener)]
    return () => {
      insightListeners.delete(listener)
      ends.forEach((end) => end())
    }
  }

  /** A hundred tabs must not ask at once for what nobody looks at. */
  function whenVisible(work: () => void): void {
    if (document.visibilityState === 'visible') return work()
    document.addEventListener('visibilitychange', work, { once: true })
  }

  return { tree: treeOf(first), attach }
}
