import type { LiveRouter, LoadedRouter } from '../../react/router-types.ts'
import { isBlocked } from './call-safely.ts'
import { createFormerPage } from './former-page.ts'
import { createLeaveGate } from './leave-gate.ts'
import { hrefOf, localHref, withoutHash } from '../data/local-href.ts'
import { IDLE, leavingFor, runningNavigation, type Navigation } from './navigation.ts'
import { createNavigationRun } from './navigation-run.ts'
import { createNavigator, linkedUrl, type Navigator } from './navigator.ts'
import type { RouterParts, RouterScreen, RouterState } from './router-parts.ts'
import { createScreenUpdates, type ScreenUpdates } from './screen-updates.ts'

/** The router with the members for its host. */
export interface RouterCore
  extends
    Omit<LoadedRouter, 'leaving' | 'committed' | 'caught' | 'call' | 'uploads' | 'unsent' | keyof LiveRouter>,
    Navigator,
    ScreenUpdates {
  readonly screen: RouterScreen
  /** Data of the screen is being loaded or rendered, or another page is. */
  readonly isReloading: boolean
  readonly navigation: Navigation
  /** Id of the current navigation to another page. */
  readonly leavingFor: number | undefined
  /** Whether the page on screen is of a user who has left. */
  readonly isFormer: boolean
  /** Makes the browser load a document. */
  readonly leave: RouterParts['leave']
  /** The browser has moved within the page. */
  moved(href: string): void
  setOnline(online: boolean): void
  /** Cancels the navigation of a click. A history traversal continues: the address bar has already moved. */
  giveUp(): void
}

export function createRouter(given: RouterParts): RouterCore {
  const { first, history, window, tell } = given
  const { origin } = window.location
  const state: RouterState = {
    screen: first,
    given: first,
    rendering: false,
    navigation: IDLE,
    offset: 0,
    drops: 0,
    former: false,
  }
  let { onLine: online } = window.navigator
  const formerPage = createFormerPage(given, state)
  const parts = { ...given, leave: formerPage.leave }
  const isAsked = (href: string): boolean => !state.former && isBlocked(parts.listeners.blockers, href)
  const gate = createLeaveGate(isAsked, history, tell)
  const run = createNavigationRun({ ...parts, keepsFrom: formerPage.keepsFrom }, state)
  const updates = createScreenUpdates({ ...parts, formerPage }, state, run)

  const running = () => runningNavigation(state.navigation)

  function refresh(): void {
    // A click, a step in the history, or other search params: they continue, and load their data again.
    if (leavingFor(state.navigation)) parts.store.revalidate(['/*'])
    else void run.start(state.screen.href, 'refresh', { scroll: false })
  }

  return {
    ...createNavigator(parts, state, run, gate),
    ...updates,
    get screen() {
      return state.screen
    },
    get isReloading() {
      return state.rendering || !!state.refresh || !!running()
    },
    leave: formerPage.leave,
    get isFormer() {
      return state.former
    },
    get navigation() {
      return state.navigation
    },
    get pending() {
      const { slow, target } = running() ?? {}
      return slow ? target : undefined
    },
    get blocked() {
      return gate.blocked
    },
    get online() {
      return online
    },
    get leavingFor() {
      return leavingFor(state.navigation)
    },
    go: history.go,
    refresh,
    revalidate(...targets) {
      updates.forget(targets)
      parts.broadcast(targets)
    },
    moved(href) {
      state.screen = { ...state.screen, href }
      parts.effects.moved()
      tell()
    },
    async read(to, signal) {
      const url = linkedUrl(window, to, state.screen.href)
      const page = url.origin === origin ? await parts.loader.load(hrefOf(url), { signal }) : undefined
      if (page?.kind !== 'page') throw page?.reason ?? new TypeError(`Not a page: ${url.href}`)
      if (page.failure !== undefined) throw page.failure
      return page.view
    },
    prefetch(to) {
      const url = linkedUrl(window, to, state.screen.href)
      if (url.origin === origin) parts.prefetcher.add(withoutHash(hrefOf(url)), 'intent')
    },
    redirect(to, external) {
      const href = localHref(to, origin)
      if (href !== undefined) void run.start(href, 'replace', {}, 'redirect')
      else if (external && /^https?:\/\//i.test(to)) parts.leave(to, 'replace')
    },
    giveUp() {
      if (running()?.target.kind !== 'traverse') run.cancel()
    },
    setOnline(next) {
      if (next === online) return
      online = next
      tell()
      const { page, fallback } = state.screen
      // An error page caused only by the network disappears with its cause.
      if (online && (page.failure !== undefined || fallback?.reason === 'offline')) refresh()
    },
  }
}
