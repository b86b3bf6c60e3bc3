/** What hooks and components know of the client router. Free of DOM types: the server's compiler sees it too. */
import type { ReactNode } from 'react'
import type { Outcome, RouteView } from './route-view.ts'

/** How a navigation changes the history; `refresh` leaves it as it is. */
export type NavigationKind = 'push' | 'replace' | 'traverse' | 'refresh'

/** How `navigate` goes. */
export interface NavigateOptions {
  /** Take the place of the present entry of the history. Default `false`. */
  readonly replace?: boolean
  /** Go to the top of the page, or to the fragment. Default `true`. */
  readonly scroll?: boolean
  /** Move the focus to the new page's heading. Default: as `scroll`. */
  readonly focus?: boolean
}

/** A navigation that is under way. */
export interface PendingNavigation {
  /** Path, query and hash. */
  readonly href: string
  readonly kind: NavigationKind
  /** When it began, in milliseconds since the epoch. */
  readonly since: number
}

/** What `onNavigate` is told. */
export interface NavigateEvent {
  /**
   * `start`: it begins. `commit`: the new page is on the screen. `cancel`: another took its place. `fail`: its data did
   * not come and the error boundary is shown, or the browser loads the document instead. `leave`: only the browser can go
   * there.
   */
  readonly type: 'start' | 'commit' | 'cancel' | 'fail' | 'leave'
  readonly kind: NavigationKind
  /** Path, query and hash of the page that was on the screen. */
  readonly from: string
  /** Path, query and hash of where it leads. */
  readonly to: string
  /** Milliseconds since its start. */
  readonly duration: number
  /** For `cancel` and `fail`; `'redirect'` at the `start` of one that the page on the screen has redirected to. */
  readonly reason?: unknown
}

/** A navigation that a blocker has held back. */
export interface BlockedNavigation {
  /** Path, query and hash. */
  readonly href: string
  readonly kind: NavigationKind
  /** Goes there after all. */
  proceed(): void
  /** Stays. */
  reset(): void
}

/** Where a navigation would lead, as a blocker is asked. */
export interface BlockerQuestion {
  /** Path, query and hash; of a navigation that leaves the site or closes the page: `undefined`. */
  readonly href: string | undefined
}

/** How far a body has been sent. */
export interface UploadProgress {
  /** Bytes that have left the browser. */
  readonly loaded: number
  /** Bytes altogether; 0 before that is known. */
  readonly total: number
  /** Takes the call back: its state is `null` again. The server hears of it, unless it has everything already. */
  cancel(): void
}

/** What is on the screen. */
export interface Screen {
  /** Path, query and hash. */
  readonly href: string
  readonly view: RouteView
  /** Changes with every navigation, and not when data is fetched anew. */
  readonly visit: number
  /** Set where something of it has failed since, or was refused: the fallback that a boundary shows. */
  readonly fallback?: Outcome | undefined
}

/** The client router, as hooks use it. */
export interface Router {
  readonly screen: Screen
  /** The navigation under way, once it has taken 100 ms. */
  readonly pending: PendingNavigation | undefined
  readonly blocked: BlockedNavigation | undefined
  readonly online: boolean
  /**
   * Goes to a URL: relative ones are read as in a link. Other sites are left to the browser.
   * @throws {TypeError} for what is no URL, or one that runs script.
   */
  navigate(to: string | { readonly href: string }, options?: NavigateOptions): void
  /** Moves in the history. */
  go(delta: number): void
  /** Asks for all data of the present page anew. */
  refresh(): void
  /** Drops what is known under these tags and paths, in all tabs, and asks anew for what of it is on the screen. */
  revalidate(...targets: readonly string[]): void
  /**
   * Reads the data of another page. Rejects with what was thrown there.
   * @param signal ends the reading, and later what is still on its way for the page.
   */
  read(href: string, signal: AbortSignal): Promise<RouteView>
  /** Fetches a page ahead. */
  prefetch(href: string): void
  /** Asks before the page is left, for as long as the returned function has not been called. */
  block(asks: (question: BlockerQuestion) => boolean): () => void
  onNavigate(listener: (event: NavigateEvent) => void): () => void
  /**
   * Calls an action on the page on screen.
   * @param event which has led to it; the one under way, unless told.
   */
  call(id: string, args: readonly unknown[], event?: Event): Promise<unknown>
  /** How far files of calls under way have been sent, by action id. */
  readonly uploads: ReadonlyMap<string, UploadProgress>
  /** Calls back when `screen`, `pending`, `blocked`, `online` or `uploads` have changed. */
  subscribe(listener: () => void): () => void
  /** Goes where a redirect that was thrown in the browser leads; nowhere if that is neither a path nor, with `external`, a site. */
  redirect(to: string, external: boolean): void
}

/** The client router, as error boundaries use it. */
export interface BoundaryRouter extends Router {
  /**
   * An error boundary of the screen has caught something. Follows a redirect; otherwise loads the fallback and its styles.
   * @returns the fallback, to be shown; `undefined` where it does not load, or there is none.
   */
  caught(boundary: BoundaryProps, value: unknown): Promise<ReactNode>
}

/** Who wants to hear of the router. The handle fills it, the router that comes later tells. */
export interface RouterListeners {
  /** `screen`, `pending`, `blocked` or `online` have changed. */
  readonly changes: Set<() => void>
  readonly navigations: Set<(event: NavigateEvent) => void>
  /** Asked before the page is left. */
  readonly blockers: Set<(question: BlockerQuestion) => boolean>
}

/** The router with what the React root tells it. */
export interface HostedRouter extends BoundaryRouter {
  /** React is about to take the screen out of the document. */
  leaving(): void
  /** React has put this screen into the document. */
  committed(screen: Screen): void
}

/** What of `HostedRouter` comes with the router's own code; the handle keeps the rest. */
export type LoadedRouter = Omit<HostedRouter, 'subscribe' | 'onNavigate' | 'block'>

/** Props of `SegmentBoundary`. */
export interface BoundaryProps {
  readonly chain: RouteView['chain']
  /** Index in the chain of the segment whose fallbacks it shows; -1 for the last resort inside the document, a fixed text. */
  readonly at: number
  /** Another one than before means another navigation: what was caught belongs to the page that was left. */
  readonly visit: number | undefined
  readonly onRetry?: (() => void) | undefined
  readonly children: ReactNode
}
