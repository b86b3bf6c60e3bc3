import { isRuntimePath } from '../../../shared/runtime-paths.ts'
import type {
  NavigateEvent,
  NavigateOptions,
  NavigationKind,
  PendingNavigation,
  Screen,
  LoadedRouter,
} from '../../react/router-types.ts'
import { guarded } from './guarded.ts'
import type { Traversal } from './history-stack.ts'
import type { NavigationRecord } from '../data/journal.ts'
import { createLeaveGate } from './leave-gate.ts'
import { hrefOf, localHref, withoutHash } from '../data/local-href.ts'
import {
  IDLE,
  PENDING_DELAY_MS,
  reduceNavigation,
  type Navigation,
  type NavigationEvent,
  type NavigationTarget,
} from './navigation.ts'
import { matchesTarget } from '../data/route-cache.ts'
import type { Outcome } from '../../react/route-view.ts'
import { RouteCancelled } from '../../react/router-errors.ts'
import type { RouterScreen, RouterParts } from './router-parts.ts'

/** The router with what only its host calls. */
export interface RouterCore extends Omit<LoadedRouter, 'leaving' | 'committed' | 'caught' | 'call' | 'uploads'> {
  readonly screen: RouterScreen
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
  /** Shows what is known by now of the page on screen, and asks for what is not. */
  catchUp(): void
  /** Renders other data of the page on screen; `keys` are those of its entries in the cache. */
  show(view: Screen['view'], keys: readonly string[]): void
  /** Id of the navigation that is on its way to another page. */
  readonly leavingFor: number | undefined
  /** A boundary of the screen shows a fallback: title, focus and announcement follow. */
  fallBack(fallback: Outcome): void
  setOnline(online: boolean): void
  /** Cancels what a click has begun. A move in the history goes on: the address bar is there already. */
  giveUp(): void
}

/**
 * Runs one navigation at a time: the reducer in `navigation.ts` says where it stands. A navigation that is overtaken
 * is aborted, and proves after each wait that it is still the current one by its signal.
 */
export function createRouter(parts: RouterParts): RouterCore {
  const { listeners, known, store, loader, history, journal, host, window, now } = parts
  const { location } = window
  let screen = parts.first
  let navigation = IDLE
  let { onLine: online } = window.navigator
  /** Of the last navigation. */
  let lifetime = screen.lifetime
  let record: NavigationRecord | undefined
  let lastId = 0
  /** React has been given a screen that is not in the document yet. */
  let rendering = false
  /** What React has been given last. */
  let given = parts.first
  let revalidation: AbortController | undefined
  /** Entries by which the address bar is away from the screen: a traversal moves it before its page is there. */
  let strayed = 0

  const tell = (): void => listeners.changes.forEach((listener) => listener())

  const gate = createLeaveGate(listeners.blockers, history, tell)

  function dispatch(event: NavigationEvent): boolean {
    const next = reduceNavigation(navigation, event)
    if (next === navigation) return false
    navigation = next
    tell()
    return true
  }

  function emit(type: NavigateEvent['type'], { kind, href, since }: NavigationTarget, reason?: unknown): void {
    if (type !== 'start') Object.assign(record ?? {}, { endedAt: now(), end: type })
    const event = { type, kind, from: record?.from ?? '', to: href, duration: now() - since, reason }
    for (const listener of listeners.navigations) guarded(() => listener(event))
  }

  function render(next: RouterScreen): void {
    rendering = true
    given = next
    host.render(next)
  }

  function cancel(): void {
    if (!('slow' in navigation)) return
    const { target } = navigation
    const reason = new RouteCancelled()
    lifetime.abort(reason)
    dispatch({ type: 'cancel', id: target.id })
    // React is at work on it, and would put it on the screen: what it is told last counts.
    if (rendering) render(screen)
    emit('cancel', target, reason)
  }

  async function start(
    href: string,
    kind: NavigationKind,
    { scroll = true, focus = scroll }: NavigateOptions = {},
    reason?: unknown,
  ): Promise<void> {
    cancel()
    revalidation?.abort()
    if (parts.outdated()) return host.leave(href, kind)
    // Who has gone back and then clicks something on the page that is still there goes on from that page.
    const isAside = strayed !== 0 && kind !== 'traverse' && href !== hrefOf(location)
    const returned = isAside ? history.revert({ href, entry: history.current, delta: strayed }) : undefined
    if (isAside) strayed = 0
    const own = (lifetime = new AbortController())
    const { signal } = own
    const id = (lastId += 1)
    let target: NavigationTarget = { id, kind, href, since: now() }
    record = journal.navigation({ id, kind, from: screen.href, to: href, startedAt: target.since })
    dispatch({ type: 'start', target })
    emit('start', target, reason)
    const slow = setTimeout(() => dispatch({ type: 'slow', id }), PENDING_DELAY_MS)
    try {
      const page = await loader.load(href, { signal, anew: kind === 'refresh' ? 'all' : 'nothing' })
      await returned
      if (signal.aborted) return
      if (page.kind === 'document') {
        const { reason } = page
        // oxlint-disable-next-line no-console -- the document that follows cannot say why it had to come
        if (reason) console.error(reason.message)
        // What follows is the browser's to show. It may be a download, and then this page stays.
        dispatch({ type: 'leave', id })
        emit(reason ? 'fail' : 'leave', target, reason)
        return host.leave(page.href, kind)
      }
      if (page.href !== href) {
        target = { ...target, href: page.href }
        record.to = page.href
        dispatch({ type: 'start', target })
      }
      record.readyAt = now()
      dispatch({ type: 'load', id })
      render({ href: page.href, view: page.view, visit: id, page, lifetime: own, arrival: { kind, scroll, focus } })
    } catch (reason) {
      if (signal.aborted) return
      if (dispatch({ type: 'fail', id, reason })) emit('fail', target, reason)
      reportError(reason)
    } finally {
      clearTimeout(slow)
    }
  }

  /** What is on the screen may have changed on the server: asks again, and renders only what did change. */
  async function refetch(): Promise<void> {
    revalidation?.abort()
    const { signal } = (revalidation = new AbortController())
    const shown = screen
    const page = await loader.load(shown.href, { signal, anew: 'stale', whole: true }).catch(() => undefined)
    // The next navigation will see for itself that only a document helps.
    if (page?.kind !== 'page' || signal.aborted || screen.visit !== shown.visit || screen.view !== shown.view) return
    const { href, view } = page
    // What is on the screen, though old, is better than an error page that nobody asked for.
    if (page.failure !== undefined || view.outcome?.kind === 'error') return
    if (href !== shown.href) return void start(href, 'replace', { scroll: false })
    // A boundary may have begun to show a fallback since, and the visitor have moved within the page.
    const latest = given.visit === screen.visit ? given : screen
    if (sameView(view, shown.view)) {
      screen = { ...screen, page }
      known.shown(page.keys, href)
    } else render({ ...latest, href: screen.href, arrival: undefined, view, page })
  }

  function isHere(href: string): boolean {
    return withoutHash(href) === withoutHash(screen.href)
  }

  /** Read as a link does. */
  function urlOf(to: string): URL {
    return new URL(to, window.document.baseURI)
  }

  function navigate(to: string | { readonly href: string }, options: NavigateOptions = {}): void {
    const url = urlOf(typeof to === 'string' ? to : to.href)
    if (!/^https?:$/.test(url.protocol)) throw new TypeError(`Not a page: ${url.href}`)
    const kind = options.replace === true ? 'replace' : 'push'
    if (url.origin !== location.origin || isRuntimePath(url.pathname)) return host.leave(url.href, kind)
    const href = hrefOf(url)
    if (url.hash !== '' && isHere(href) && href !== hrefOf(location)) return moveTo(href, kind)
    // The same page again means: anew.
    gate.leave(href, kind, () => void start(href, href === hrefOf(location) ? 'refresh' : kind, options))
  }

  /** Within the page: nothing to load. */
  function moveTo(href: string, kind: 'push' | 'replace' | 'traverse'): void {
    cancel()
    host.leaving()
    strayed = 0
    screen = { ...screen, href }
    if (kind !== 'traverse') history[kind](href)
    host.arrived({ ...screen, arrival: { kind, scroll: true, focus: kind !== 'traverse' } })
    tell()
  }

  function forget(targets: readonly string[]): void {
    const page = { tags: [], path: screen.href.replace(/[?#].*/s, '') }
    const entries = screen.page.keys.map((key) => known.cache.entries.get(key) ?? page)
    const isShown = [page, ...entries].some((entry) => matchesTarget(entry, targets))
    store.revalidate(targets)
    if (isShown) void refetch()
    tell()
  }

  function refresh(): void {
    void start(screen.href, 'refresh', { scroll: false })
  }

  return {
    get screen() {
      return screen
    },
    get navigation() {
      return navigation
    },
    get pending(): PendingNavigation | undefined {
      return 'slow' in navigation && navigation.slow ? navigation.target : undefined
    },
    get blocked() {
      return gate.blocked
    },
    get online() {
      return online
    },
    get leavingFor() {
      return 'slow' in navigation && navigation.target.kind !== 'refresh' ? navigation.target.id : undefined
    },
    navigate,
    go: (delta) => history.go(delta),
    refresh,
    revalidate(...targets) {
      forget(targets)
      parts.broadcast(targets)
    },
    moved(href) {
      screen = { ...screen, href }
      tell()
    },
    follow(anchor, url) {
      navigate(url)
      if (navigation.state !== 'loading') return
      const { id } = navigation.target
      const mark = (): void => {
        const running = 'slow' in navigation && navigation.target.id === id ? navigation : undefined
        anchor.toggleAttribute('data-pending', running?.slow ?? false)
        if (!running) listeners.changes.delete(mark)
      }
      listeners.changes.add(mark)
    },
    forget,
    catchUp: () => void refetch(),
    show(view, keys) {
      // A page that is about to come shows what is so by then.
      if (navigation.state === 'committing') return
      revalidation?.abort()
      known.shown(keys, screen.href)
      if (!sameView(view, screen.view)) {
        render({ ...screen, arrival: undefined, view, page: { ...screen.page, keys, stale: false } })
      }
    },
    fallBack(fallback) {
      // A page that is about to come has other fallbacks.
      if (navigation.state !== 'committing') render({ ...screen, arrival: undefined, fallback })
    },
    async read(to, signal) {
      const url = urlOf(to)
      const href = hrefOf(url)
      if (url.origin !== location.origin) throw new TypeError(`Not a page: ${url.href}`)
      const page = await loader.load(href, { signal })
      if (page.kind === 'document') throw page.reason ?? new TypeError(`Not a page: ${href}`)
      if (page.failure !== undefined) throw page.failure
      return page.view
    },
    prefetch(to) {
      const url = urlOf(to)
      if (url.origin === location.origin) parts.prefetch(withoutHash(hrefOf(url)))
    },
    redirect(to, external) {
      const href = localHref(to, location.origin)
      if (href !== undefined) void start(href, 'replace', {}, 'redirect')
      else if (external && /^https?:\/\//i.test(to)) host.leave(to, 'replace')
    },
    committed(shown) {
      const { arrival, page, href, visit } = shown
      if (shown === screen) return
      const former = screen
      screen = shown
      rendering = false
      known.shown(page.keys, href)
      if (arrival !== undefined) {
        strayed = 0
        if (arrival.kind === 'push') history.push(href)
        // A redirect may have led a traversal elsewhere.
        else if (arrival.kind === 'replace' || href !== hrefOf(location)) history.replace(href)
        former.lifetime.abort(new RouteCancelled())
        host.arrived(shown)
        if ('slow' in navigation && navigation.target.id === visit) {
          const { target } = navigation
          dispatch({ type: 'commit', id: visit })
          emit(page.failure === undefined ? 'commit' : 'fail', target, page.failure)
        }
      } else if (shown.fallback !== former.fallback) host.arrived(shown)
      tell()
      if (page.stale) void refetch()
    },
    traverse(traversal) {
      const { href } = traversal
      if (isHere(href) && screen.page.failure === undefined) moveTo(href, 'traverse')
      else {
        gate.traverse(traversal, () => {
          strayed += traversal.delta
          void start(href, 'traverse')
        })
      }
    },
    giveUp() {
      if ('slow' in navigation && navigation.target.kind !== 'traverse') cancel()
    },
    setOnline(next) {
      if (next === online) return
      online = next
      tell()
      // An error page that only the network has caused goes away with its cause.
      if (online && (screen.page.failure !== undefined || screen.fallback?.reason === 'offline')) refresh()
    },
  }
}

/** Whether React would render the same: equal objects mean that nothing has changed on the server. */
function sameView(left: Screen['view'], right: Screen['view']): boolean {
  const ids = Object.keys(left.data)
  return (
    left.chain.at(-1)?.key === right.chain.at(-1)?.key &&
    !left.outcome &&
    !right.outcome &&
    ids.length === Object.keys(right.data).length &&
    ids.every((id) => left.data[id] === right.data[id])
  )
}
