import type { NavigationKind, Screen, RouterListeners } from '../../react/router-types.ts'
import type { HistoryStack } from './history-stack.ts'
import type { Journal } from '../data/journal.ts'
import type { KnownRoutes } from '../data/known-routes.ts'
import type { PageLoader, ReadyPage } from './page-loader.ts'
import type { RouteStore } from '../data/route-store.ts'

/** A screen with what the router must know of it. */
export interface RouterScreen extends Screen {
  readonly page: Pick<ReadyPage, 'keys' | 'stale' | 'failure'>
  /** Aborted when it is left: ends what is still on its way for it. */
  readonly lifetime: AbortController
  /** How it came; absent for data that was fetched anew. */
  readonly arrival?: Arrival | undefined
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
  /** What is on the screen is about to be scrolled elsewhere; React tells itself when it takes a page away. */
  leaving(): void
  /** The screen is in the document, or its fallback: styles, scroll, focus. Called after the history has moved. */
  arrived(screen: RouterScreen): void
  /** Has the browser load a document. */
  leave(href: string, kind: NavigationKind): void
}

/** What it is made of. */
export interface RouterParts {
  readonly first: RouterScreen
  readonly listeners: RouterListeners
  readonly known: KnownRoutes
  readonly store: RouteStore
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
