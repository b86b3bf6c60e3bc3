/** Messages between the development server and open pages. Both sides always have the same version. */

/** Where the development server sends its events (`text/event-stream`). */
export const DEV_EVENTS_PATH = '/_m/dev'

/** Where a page sends the stack of an error, to have it translated to the sources. */
export const DEV_STACK_PATH = '/_m/dev/stack'

/** Entry of `Server-Timing` whose description is the number of the document's build. */
export const DEV_BUILD_TIMING = 'millrace-build'

/** One frame of a stack. */
export interface DevFrame {
  /** The function's name; empty outside functions. */
  readonly name: string
  /** A path in the project, or a URL outside it. */
  readonly file: string
  /** From 1. */
  readonly line: number
  /** From 1. */
  readonly column: number
  /** Whether it is the project's own code, not a package's or Node's. */
  readonly own: boolean
}

/** A failure for the overlay. */
export interface DevFailure {
  /** Origin of the failure. A failed build is cleared by the next good one, a failed request by the next page. */
  readonly kind: 'build' | 'server' | 'browser'
  readonly message: string
  readonly frames: readonly DevFrame[]
  /** The lines around the first own frame; that line begins with `>`. */
  readonly excerpt?: string
}

/** A module with a new version. */
export interface RenewedModule {
  /** Its path in the project. */
  readonly key: string
  /** URL of the new version. */
  readonly url: string
}

/** One event. */
export type DevMessage =
  /**
   * First on each connection. A different session means that the development server was restarted. A higher build than
   * the page's means that the page has missed updates: it connected after its document was sent, or the connection was
   * cut.
   */
  | { readonly type: 'hello'; readonly session: string; readonly build: number }
  /** A build has succeeded: earlier failures are obsolete. */
  | { readonly type: 'built'; readonly build: number }
  /** Modules to import again if the page has them, and stylesheets to reload, by URL path. */
  | { readonly type: 'update'; readonly modules: readonly RenewedModule[]; readonly styles: readonly string[] }
  /** The server gives other data: the page fetches its own again and keeps the rest. */
  | { readonly type: 'refresh' }
  /** Only a new document can show the change. */
  | { readonly type: 'reload' }
  | { readonly type: 'failure'; readonly failure: DevFailure }
