import type { NavigationKind, Screen, RouterListeners } from '../../react/router-types.ts'
import type { HistoryStack } from './history-stack.ts'
import type { Navigation } from './navigation.ts'
import type { Journal } from '../data/journal.ts'
import type { KnownRoutes } from '../data/known-routes.ts'
import type { PageLoader, ReadyPage } from './page-loader.ts'
import type { RouteStore } from '../data/route-store.ts'

/** A screen with the router's own facts. */
export interface RouterScreen extends Screen {
  readonly page: Pick<ReadyPage, 'keys' | 'at' | 'stale' | 'failure'>
  /** Aborted when the screen is left: ends its pending work. */
  readonly lifetime: AbortController
  /** How it was reached; absent for reloaded data. */
  readonly arrival?: Arrival | undefined
}

/** Effects after a page has come on screen. */
interface Arrival {
  readonly kind: NavigationKind
  readonly scroll: boolean
  readonly focus: boolean
}

/** Effects outside React when the page changes: styles, scroll, focus. */
export interface PageEffects {
  /**
   * The previous page is still in the document, or the page on screen is about to scroll elsewhere.
   * @param caught as for `DraftKeeper`.
   */
  leaving(caught?: string): void
  /** The new page, or a fallback in its place, is in the document. */
  arrived(screen: RouterScreen): void
  /** The browser has moved within the page, to a fragment whose element may come later. */
  moved(): void
}

/**
 * Tells the other tabs to drop targets.
 * @param at time of the drop, as in `drops-event.ts`, if it is known.
 */
export type Broadcast = (targets: readonly string[], at?: number) => void

/** Parts of the router. */
export interface RouterParts {
  readonly first: RouterScreen
  readonly listeners: RouterListeners
  readonly known: KnownRoutes
  readonly store: RouteStore
  readonly loader: PageLoader
  readonly history: HistoryStack
  readonly journal: Journal
  readonly effects: PageEffects
  readonly prefetcher: { add(href: string, priority: 'intent'): void }
  readonly window: Window
  readonly now: () => number
  /** Whether the server has a newer build. */
  readonly outdated: () => boolean
  /** Tells hooks that their values have changed. */
  readonly tell: () => void
  /**
   * Makes React render a screen, as a transition. Call `committed` once it is in the document.
   * @param isAnswer whether to show it together with the result of an action, and not before.
   */
  readonly render: (screen: RouterScreen, isAnswer?: boolean) => void
  /** Makes the browser load a document. */
  readonly leave: (href: string, kind: NavigationKind) => void
  readonly broadcast: Broadcast
}

/** Mutable state of the router. `createRouter` creates it, and the transitions share it. */
export interface RouterState {
  /** The screen in the document. */
  screen: RouterScreen
  /** The last screen that React was given. */
  given: RouterScreen
  /** Whether the page's user has left: the next page is loaded as a document, as soon as there is one. */
  former: boolean
  /** React is rendering a screen that is not in the document yet. */
  rendering: boolean
  /** Changed by `navigation-run.ts` only. */
  navigation: Navigation
  /**
   * Distance in entries from the screen to the address bar: a traversal moves the address bar before its page is shown.
   */
  offset: number
  /** Number of drops when the last page was given to React. */
  drops: number
  /** Aborts the request for fresh data of the page on screen, while there is one. */
  refresh?: AbortController | undefined
}
