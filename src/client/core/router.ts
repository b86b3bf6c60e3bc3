import type { LoadedRouter, RouterListeners } from '../router-handle.ts'
import type {
  BlockedNavigation,
  NavigateEvent,
  NavigateOptions,
  NavigationKind,
  PendingNavigation,
  Screen,
} from '../router-types.ts'
import type { HistoryStack, Traversal } from './history-stack.ts'
import type { Journal } from './journal.ts'
import type { KnownRoutes } from './known-routes.ts'
import { safeLocation } from '../../shared/safe-location.ts'
import { matchesTarget } from './route-cache.ts'
import {
  IDLE,
  PENDING_DELAY_MS,
  reduceNavigation,
  type Navigation,
  type NavigationEvent,
  type NavigationTarget,
} from './navigation.ts'
import type { ElsewherePage, PageLoader, ReadyPage } from './page-loader.ts'
import { RouteCancelled } from './router-errors.ts'

/** A screen with what the router must know of it. */
export interface RouterScreen extends Screen {
  readonly page: Omit<ReadyPage, 'kind' | 'href' | 'view'>
  /** How it came; absent for data that was fetched anew. */
  readonly arrival?: Arrival
}

/** What is done when a page has come to the screen. */
export interface Arrival {
  readonly kind: NavigationKind
  readonly scroll: boolean
  readonly focus: boolean
}

/** What the router has done to it: the page around it. */
export interface RouterHost {
  /** Has React render a screen, as a transition. `committed` must be called once it is in the document. */
  render(screen: RouterScreen): void
  /** The screen is in the document: styles, scroll, focus. Called after the history has moved. */
  arrived(screen: RouterScreen): void
  /** Has the browser load a document. */
  leave(href: string, kind: NavigationKind): void
}

/** What it is made of. */
export interface RouterParts {
  readonly first: RouterScreen
  readonly listeners: RouterListeners
  readonly known: KnownRoutes
  readonly loader: PageLoader
  readonly history: HistoryStack
  readonly journal: Journal
  readonly host: RouterHost
  readonly window: Window
  readonly now: () => number
  /** Whether the server is of another build by now. */
  readonly outdated: () => boolean
  readonly prefetch: (href: string) => void
  /** Tells the other tabs. */
  readonly broadcast: (targets: readonly string[]) => void
}

/** The router with what only its host calls. */
export interface RouterCore extends Omit<LoadedRouter, 'leaving' | 'committed'> {
  readonly navigation: Navigation
  /** React has put this screen into the document. */
  committed(screen: RouterScreen): void
  traverse(traversal: Traversal): void
  /** The browser has moved within the page. */
  moved(href: string): void
  /** A link was clicked: it is marked by `data-pending` while its page is on its way. */
  follow(anchor: Element, url: URL): void
  /** As `revalidate`, without telling other tabs. */
  forget(targets: readonly string[]): void
  setOnline(online: boolean): void
}

/**
 * Runs one navigation at a time: the reducer in `navigation.ts` says where it stands. A navigation that is overtaken
 * is aborted, and proves after each wait that it is still the current one by its signal.
 */
export function createRouter(parts: RouterParts): RouterCore {
  const { listeners, known, loader, history, journal, host, window, now } = parts
  const state = {
    screen: parts.first,
    navigation: IDLE,
    online: window.navigator.onLine,
    controller: new AbortController(),
    lastId: 0,
    /** Given to React, and not yet in the document. */
    rendering: undefined as RouterScreen | undefined,
    /** A traversal that has been allowed and must not be asked about again. */
    allowed: false,
    revalidation: undefined as AbortController | undefined,
    blocked: undefined as BlockedNavigation | undefined,
  }

  function tell(): void {
    for (const listener of listeners.changes) listener()
  }

  /** Whether anybody objects to leaving for this URL. */
  function object(href: string): boolean {
    return [...listeners.blockers].some((asks) => asks({ href }))
  }

  /** Holds a navigation back: `go` goes on with it. */
  function hold(href: string, kind: NavigationKind, go: () => void): void {
    const reset = (): void => block(undefined)
    block({
      href,
      kind,
      reset,
      proceed() {
        reset()
        go()
      },
    })
  }

  function block(blocked: BlockedNavigation | undefined): void {
    state.blocked = blocked
    tell()
  }

  function dispatch(event: NavigationEvent): boolean {
    const next = reduceNavigation(state.navigation, event)
    if (next === state.navigation) return false
    state.navigation = next
    tell()
    return true
  }

  function emit(type: NavigateEvent['type'], { id, kind, href, since }: NavigationTarget, reason?: unknown): void {
    const record = journal.navigations.findLast((one) => one.id === id)
    if (record !== undefined && type !== 'start') Object.assign(record, { endedAt: now(), end: type })
    const event = { type, kind, from: record?.from ?? '', to: href, duration: now() - since }
    for (const listener of listeners.navigations) listener(reason === undefined ? event : { ...event, reason })
  }

  function cancel(): void {
    const { navigation } = state
    if (navigation.state !== 'loading' && navigation.state !== 'committing') return
    const { target } = navigation
    const reason = new RouteCancelled()
    state.controller.abort(reason)
    dispatch({ type: 'cancel', id: target.id })
    if (state.rendering?.visit === target.id) {
      // React is at work on it, and would put it on the screen: what it is told last counts.
      state.rendering.page.release()
      render(state.screen)
    }
    emit('cancel', target, reason)
  }

  function render(screen: RouterScreen): void {
    state.rendering = screen
    host.render(screen)
  }

  async function start(href: string, kind: NavigationKind, options: NavigateOptions): Promise<void> {
    cancel()
    state.revalidation?.abort()
    if (parts.outdated()) return host.leave(href, kind)
    const controller = new AbortController()
    state.controller = controller
    const id = ++state.lastId
    let target: NavigationTarget = { id, kind, href, since: now() }
    const record = journal.navigation({ id, kind, from: state.screen.href, to: href, startedAt: target.since })
    dispatch({ type: 'start', target })
    emit('start', target)
    const slow = setTimeout(() => dispatch({ type: 'slow', id }), PENDING_DELAY_MS)
    try {
      const page = await loader.load(href, { signal: controller.signal, anew: kind === 'refresh' ? 'all' : 'nothing' })
      if (controller.signal.aborted) return page.kind === 'page' ? page.release() : undefined
      if (page.kind === 'document') return elsewhere(page, target)
      if (page.href !== href) {
        target = { ...target, href: page.href }
        record.to = page.href
        dispatch({ type: 'start', target })
      }
      record.readyAt = now()
      dispatch({ type: 'load', id })
      const { scroll = true, focus = scroll } = options
      const { view, href: to, kind: _, ...rest } = page
      render({ href: to, view, visit: id, page: rest, arrival: { kind, scroll, focus } })
    } catch (thrown) {
      if (controller.signal.aborted) return
      fail(target, thrown)
      throw thrown
    } finally {
      clearTimeout(slow)
    }
  }

  function fail(target: NavigationTarget, reason: unknown): void {
    if (!dispatch({ type: 'fail', id: target.id, reason })) return
    emit('fail', target, reason)
  }

  function elsewhere({ href, reason }: ElsewherePage, target: NavigationTarget): void {
    if (reason !== undefined) {
      // oxlint-disable-next-line no-console -- the document that follows cannot say why it had to come
      console.error(reason.message)
    }
    emit(reason === undefined ? 'leave' : 'fail', target, reason)
    host.leave(href, target.kind)
  }

  /** What is on the screen may have changed on the server: asks again, and renders only what did change. */
  async function refetch(): Promise<void> {
    state.revalidation?.abort()
    const controller = new AbortController()
    state.revalidation = controller
    const { screen } = state
    const { href, visit } = screen
    const page = await loader
      .load(href, { signal: controller.signal, anew: 'stale', whole: true })
      .catch(() => undefined)
    if (page === undefined || controller.signal.aborted || state.screen !== screen) return
    if (page.kind === 'document') return // the next navigation will see for itself
    // What is on the screen, though old, is better than an error page that nobody asked for.
    if (page.failure !== undefined || page.view.outcome?.kind === 'error') return
    if (page.href !== href) return navigateTo(page.href, 'replace', { scroll: false })
    const { view, href: _href, kind: _kind, ...rest } = page
    if (sameView(view, screen.view)) {
      state.screen = { ...screen, page: { ...rest, styles: screen.page.styles } }
      known.shown(rest.keys)
    } else render({ href, view, visit, page: rest })
  }

  function navigateTo(href: string, kind: NavigationKind, options: NavigateOptions): void {
    start(href, kind, options).catch((thrown: unknown) => reportError(thrown))
  }

  function localPart(url: Pick<URL, 'pathname' | 'search' | 'hash'>): string {
    return url.pathname + url.search + url.hash
  }

  function navigate(to: string | { readonly href: string }, options: NavigateOptions = {}): void {
    const url = new URL(typeof to === 'string' ? to : to.href, window.document.baseURI)
    if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new TypeError(`Not a page: ${url.href}`)
    const kind = options.replace === true ? 'replace' : 'push'
    if (url.origin !== window.location.origin) return host.leave(url.href, kind)
    const href = localPart(url)
    const go = (): void => {
      const here = new URL(state.screen.href, url)
      // The same page again means: anew.
      if (href === localPart(window.location)) {
        navigateTo(href, 'refresh', options)
      } else if (url.hash !== '' && url.pathname === here.pathname && url.search === here.search) moveTo(href, kind)
      else navigateTo(href, kind, options)
    }
    if (object(href)) hold(href, kind, go)
    else go()
  }

  /** Within the page: nothing to load. */
  function moveTo(href: string, kind: NavigationKind): void {
    cancel()
    state.screen = { ...state.screen, href }
    history[kind === 'replace' ? 'replace' : 'push'](href)
    host.arrived({ ...state.screen, arrival: { kind, scroll: true, focus: true } })
    tell()
  }

  function forget(targets: readonly string[]): void {
    const { keys } = state.screen.page
    const path = state.screen.href.replace(/[?#].*$/s, '')
    const entries = keys.map((key) => known.cache.entries.get(key) ?? { tags: [], path })
    const shown = entries.some((entry) => matchesTarget(entry, targets)) || matchesTarget({ tags: [], path }, targets)
    known.revalidate(targets)
    if (shown) void refetch()
    tell()
  }

  function refresh(): void {
    navigateTo(state.screen.href, 'refresh', { scroll: false })
  }

  return {
    get screen() {
      return state.screen
    },
    get navigation() {
      return state.navigation
    },
    get pending(): PendingNavigation | undefined {
      const { navigation } = state
      return 'slow' in navigation && navigation.slow ? navigation.target : undefined
    },
    get blocked() {
      return state.blocked
    },
    get online() {
      return state.online
    },
    navigate,
    go: (delta) => history.go(delta),
    refresh,
    revalidate(...targets) {
      forget(targets)
      parts.broadcast(targets)
    },
    moved(href) {
      state.screen = { ...state.screen, href }
      tell()
    },
    follow(anchor, url) {
      navigate(url)
      const { navigation } = state
      if (navigation.state !== 'loading') return
      const { id } = navigation.target
      const mark = (): void => {
        const current = state.navigation
        const pending = 'slow' in current && current.target.id === id
        anchor.toggleAttribute('data-pending', pending && current.slow)
        if (!pending) listeners.changes.delete(mark)
      }
      listeners.changes.add(mark)
    },
    forget,
    async read(href, signal) {
      const page = await loader.load(href, { signal })
      if (page.kind === 'document') throw page.reason ?? new TypeError(`Not a page: ${href}`)
      if (page.failure !== undefined) throw page.failure
      return { view: page.view, release: page.release }
    },
    prefetch: (href) => parts.prefetch(href),
    redirect(to, external) {
      const target = safeLocation(to, { external })
      if (target === undefined) return
      if (external) host.leave(target, 'replace')
      else navigateTo(loader.localHref(target, state.screen.href) ?? '/', 'replace', {})
    },
    committed(screen) {
      const from = state.screen
      if (screen === from) return
      state.screen = screen
      state.rendering = undefined
      const { arrival, page } = screen
      known.shown(page.keys)
      if (arrival !== undefined) {
        if (arrival.kind === 'push') history.push(screen.href)
        // A redirect may have led a traversal elsewhere.
        else if (arrival.kind === 'replace' || screen.href !== localPart(window.location)) history.replace(screen.href)
        from.page.release()
        host.arrived(screen)
        const { navigation } = state
        const target = 'target' in navigation ? navigation.target : undefined
        if (target?.id === screen.visit && dispatch({ type: 'commit', id: screen.visit })) {
          if (page.failure === undefined) emit('commit', target)
          else emit('fail', target, page.failure)
        }
      }
      tell()
      if (page.stale) void refetch()
    },
    traverse(traversal) {
      const { href } = traversal
      const go = (): void => {
        const url = new URL(href, window.location.href)
        const here = new URL(state.screen.href, url)
        if (url.pathname === here.pathname && url.search === here.search && state.screen.page.failure === undefined) {
          cancel()
          state.screen = { ...state.screen, href }
          host.arrived({ ...state.screen, arrival: { kind: 'traverse', scroll: true, focus: false } })
          tell()
        } else navigateTo(href, 'traverse', {})
      }
      if (state.allowed) state.allowed = false
      else if (object(href)) {
        const proceed = (): void => {
          state.allowed = true
          history.go(traversal.delta)
        }
        return void history.revert(traversal).then(() => hold(href, 'traverse', proceed))
      }
      go()
    },
    setOnline(online) {
      if (online === state.online) return
      state.online = online
      tell()
      // An error page that only the network has caused goes away with its cause.
      if (online && state.screen.page.failure !== undefined) refresh()
    },
  }
}

/** Whether React would render the same: equal objects mean that nothing has changed on the server. */
function sameView(left: Screen['view'], right: Screen['view']): boolean {
  const ids = Object.keys(left.data)
  return (
    left.chain.at(-1)?.key === right.chain.at(-1)?.key &&
    left.outcome === undefined &&
    right.outcome === undefined &&
    ids.length === Object.keys(right.data).length &&
    ids.every((id) => left.data[id] === right.data[id])
  )
}
