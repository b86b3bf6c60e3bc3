/** What the development server tells open pages, and they it. Both sides are always of the same version. */

/** Where the development server sends its events (`text/event-stream`). */
export const DEV_EVENTS_PATH = '/_m/dev'

/** Where a page sends the stack of an error, to get it back in terms of the sources. */
export const DEV_STACK_PATH = '/_m/dev/stack'

/** Name of the entry of `Server-Timing` whose description is the number of the build that a document is of. */
export const DEV_BUILD_TIMING = 'millrace-build'

/** One call on a stack. */
export interface DevFrame {
  /** The function's name; empty for code outside of any. */
  readonly name: string
  /** A path in the project, or an address outside of it. */
  readonly file: string
  /** Counted from 1. */
  readonly line: number
  /** Counted from 1. */
  readonly column: number
  /** Whether it is the project's own code, and not a package's or Node's. */
  readonly own: boolean
}

/** What an overlay shows. */
export interface DevFailure {
  /** Where it happened. A failed build goes away with the next good one, a failed request with the next page. */
  readonly kind: 'build' | 'server' | 'browser'
  readonly message: string
  readonly frames: readonly DevFrame[]
  /** The lines around the first own frame; the line itself begins with `>`. */
  readonly excerpt?: string
}

/** A module of which there is a new version. */
export interface RenewedModule {
  /** Its path in the project. */
  readonly key: string
  /** Where the new version is. */
  readonly url: string
}

/** One event. */
export type DevMessage =
  /**
   * First on each connection. Another session than before means that the development server was started anew, and a later
   * build than the page's that the page has missed what was sent of it: its connection is younger than its document, or
   * was cut.
   */
  | { readonly type: 'hello'; readonly session: string; readonly build: number }
  /** There is a good build: failures of former ones are history. */
  | { readonly type: 'built'; readonly build: number }
  /** Modules to import anew where the page has them, and stylesheets to fetch anew, by their URL paths. */
  | { readonly type: 'update'; readonly modules: readonly RenewedModule[]; readonly styles: readonly string[] }
  /** Nothing less than a new document will do. */
  | { readonly type: 'reload' }
  | { readonly type: 'failure'; readonly failure: DevFailure }
