/**
 * The client router's interface for hooks and components. Without DOM types, because the server's compiler sees it too.
 */
import type { ReactNode } from 'react'
import type { Outcome, RouteView } from './route-view.ts'

/** How a navigation changes the history; `refresh` does not change it. */
export type NavigationKind = 'push' | 'replace' | 'traverse' | 'refresh'

/** Options of `navigate`. */
export interface NavigateOptions {
  /** Replace the current history entry. Default: `false`. */
  readonly replace?: boolean | undefined
  /** Scroll to the top of the page, or to the fragment. Default: `true`. */
  readonly scroll?: boolean | undefined
  /** Move the focus to the new page's heading. Default: as `scroll`. */
  readonly focus?: boolean | undefined
}

/** The current navigation. */
export interface PendingNavigation {
  /** Path, query and hash. */
  readonly href: string
  readonly kind: NavigationKind
  /** Its start, in milliseconds since the epoch. */
  readonly since: number
}

/** Argument of `onNavigate`. */
export interface NavigateEvent {
  /**
   * `start`: it begins. `commit`: the new page is on screen. `cancel`: another navigation replaced it. `fail`: its data
   * did not load and the error boundary is shown, or the browser loads the document instead. `leave`: only the browser
   * can go there.
   */
  readonly type: 'start' | 'commit' | 'cancel' | 'fail' | 'leave'
  readonly kind: NavigationKind
  /** Path, query and hash of the previous page. */
  readonly from: string
  /** Path, query and hash of the target. */
  readonly to: string
  /** Milliseconds since its start. */
  readonly duration: number
  /** For `cancel` and `fail`; `'redirect'` at the `start` of one to which the page on screen has redirected. */
  readonly reason?: unknown
}

/** A navigation that a blocker has stopped. */
export interface BlockedNavigation {
  /** Path, query and hash. */
  readonly href: string
  readonly kind: NavigationKind
  /** Continues the navigation. */
  proceed(): void
  /** Drops the navigation. */
  reset(): void
}

/** The target of a navigation, for a blocker. */
export interface BlockerQuestion {
  /** Path, query and hash; `undefined` if the visitor leaves the site or closes the page. */
  readonly href: string | undefined
}

/** Progress of sending a body. */
export interface UploadProgress {
  /** Bytes sent so far. */
  readonly loaded: number
  /** Total bytes; 0 while unknown. */
  readonly total: number
  /** Cancels the call: its state is `null` again. The server notices, unless it has already received everything. */
  cancel(): void
}

/** What the screen shows. */
export interface Screen {
  /** Path, query and hash. */
  readonly href: string
  readonly view: RouteView
  /** Changes with every navigation, but not when data is reloaded. */
  readonly visit: number
  /** Set if part of it has failed or was refused since: the fallback that a boundary shows. */
  readonly fallback?: Outcome | undefined
}

/** The client router, as event streams use it: absent until its code has loaded. */
export interface LiveRouter {
  /**
   * Drops targets.
   * @param at time of the drop, as in `drops-event.ts`: newer data stays.
   * @returns whether something older is on screen.
   */
  drop(targets: readonly string[], at?: number): boolean
  /** Reloads the data on screen that has been dropped. */
  catchUp(): Promise<void>
  /** Whether the data may come without a request more: by a call, a navigation, or a reload in progress. */
  isBusy(): boolean
  /** Whether the page on screen is of a user who has left. */
  readonly isFormer: boolean
  /**
   * Compares the users of a stream with those of the page, which may be of a former one.
   * @param marks as in `session-marks.ts`; `undefined` if the stream was open and is refused now: then the page asks the server.
   * @param askedAt when the stream may have been asked for, in milliseconds since the epoch.
   */
  hearUsers(marks: string | undefined, askedAt: number): unknown
}

/** The client router, as hooks use it. */
export interface Router extends Partial<LiveRouter> {
  readonly screen: Screen
  /** What the router does now; absent before its code has loaded. `slow` is set until the navigation has ended. */
  readonly navigation?: { readonly state: string; readonly target?: PendingNavigation; readonly slow?: boolean }
  /** The current navigation, once it has taken 100 ms. */
  readonly pending: PendingNavigation | undefined
  readonly blocked: BlockedNavigation | undefined
  readonly online: boolean
  /**
   * Navigates to a URL: relative ones are resolved as in a link. Other sites are left to the browser.
   * @throws {TypeError} for an invalid URL, or one that runs script.
   */
  navigate(to: string | { readonly href: string }, options?: NavigateOptions): void
  /** Moves in the history. */
  go(delta: number): void
  /** Reloads all data of the current page. */
  refresh(): void
  /** Drops cached data with these tags and paths, in all tabs, and reloads the part that is on screen. */
  revalidate(...targets: readonly string[]): void
  /**
   * Reads the data of another page. Rejects with errors that were thrown there.
   * @param signal aborts the loading, and later the deferred values.
   */
  read(href: string, signal: AbortSignal): Promise<RouteView>
  /** Prefetches a page. */
  prefetch(href: string): void
  /** Asks before the visitor leaves the page, until the returned function is called. */
  block(asks: (question: BlockerQuestion) => boolean): () => void
  onNavigate(listener: (event: NavigateEvent) => void): () => void
  /**
   * Calls an action on the page on screen.
   * @param event that caused the call; default: the current one.
   */
  call(id: string, args: readonly unknown[], event?: Event): Promise<unknown>
  /** Upload progress of pending calls, by action id. */
  readonly uploads: ReadonlyMap<string, UploadProgress>
  /** Ids of actions with a call that could not be sent; absent until the router's code has loaded. */
  readonly unsent?: ReadonlySet<string>
  /** Calls back when `screen`, `pending`, `blocked`, `online`, `uploads` or `unsent` have changed. */
  subscribe(listener: () => void): () => void
  /**
   * Follows a redirect that was thrown in the browser; does nothing unless it is a path or, with `external`, another
   * site.
   */
  redirect(to: string, external: boolean): void
}

/** The client router, as error boundaries use it. */
export interface BoundaryRouter extends Router {
  /**
   * Handles a value that an error boundary of the screen has caught. Follows a redirect; otherwise loads the fallback
   * and its styles.
   * @returns the fallback; `undefined` if it does not load, or there is none.
   */
  caught(boundary: BoundaryProps, value: unknown): Promise<ReactNode>
  /**
   * React is about to remove the screen from the document.
   * @param caught set if a fallback replaces a part of it: `error` for a segment, empty for less.
   */
  leaving(caught?: string): void
}

/** Listeners of the router. The lazy router collects them, the loaded one calls them. */
export interface RouterListeners {
  /** `screen`, `pending`, `blocked` or `online` have changed. */
  readonly changes: Set<() => void>
  readonly navigations: Set<(event: NavigateEvent) => void>
  /** Asked before the page is left. */
  readonly blockers: Set<(question: BlockerQuestion) => boolean>
  /** Set while the page is of a former session: whoever comes next is not asked about what that user has left. */
  unasked?: boolean
  /** Calls without files that have been sent and not answered. */
  sent?: number
}

/** The router's interface for the React root. */
export interface HostedRouter extends BoundaryRouter {
  /** React has put this screen into the document. */
  committed(screen: Screen): void
}

/** The part of `HostedRouter` that the router's own code provides; the lazy router has the rest. */
export type LoadedRouter = Omit<HostedRouter, 'subscribe' | 'onNavigate' | 'block'>

/** Props of `SegmentBoundary`. */
export interface BoundaryProps {
  readonly chain: RouteView['chain']
  /**
   * Index in the chain of the segment whose fallbacks it shows; -1 for the last resort inside the document, a fixed
   * text.
   */
  readonly at: number
  /** Changes with each navigation: a caught error belongs to the page that was left. */
  readonly visit: number | undefined
  readonly onRetry?: (() => void) | undefined
  readonly children: ReactNode
}
