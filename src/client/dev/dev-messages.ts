/** Messages between the development server and open pages. Both sides always have the same version. */

/** Where the development server sends its events (`text/event-stream`). */
export const DEV_EVENTS_PATH = '/_m/dev'

/** Where a page sends the stack of an error, to have it translated to the sources. */
export const DEV_STACK_PATH = '/_m/dev/stack'

/** Where a page asks for a file to be opened in an editor. */
export const DEV_OPEN_PATH = '/_m/dev/open'

/** Answers 204 once all saves are applied. */
export const DEV_SETTLED_PATH = '/_m/dev/settled'

/** Entry of `Server-Timing` whose description is the document's build: its number, a space, and the session. */
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
  /** Owner of other code: `React`, `Node`, `Millrace`, or a package's name. */
  readonly owner?: string
}

/** The request that a failure belongs to. */
export interface DevRequest {
  /** As in the log. */
  readonly id: string
  readonly method: string
  /** Path and query. */
  readonly url: string
  /** Pattern of the route, if one matched. */
  readonly route?: string
  /** Of the answer, once there is one. */
  readonly status?: number
  /** Segment whose loader has failed: `/mills/[id]#page`. */
  readonly loader?: string
  /** The action that has failed: file and name, or its id. */
  readonly action?: string
  /** Nobody has asked for the page yet. */
  readonly prefetch?: true
}

/** A failure for the overlay. */
export interface DevFailure {
  /** Origin of the failure. A failed build is cleared by the next good one, a failed request by the next page. */
  readonly kind: 'build' | 'server' | 'browser'
  readonly message: string
  readonly frames: readonly DevFrame[]
  /** The components around the failure, innermost first, where React names them. */
  readonly components?: readonly DevFrame[]
  /** The lines around the first own frame; that line begins with `>`. */
  readonly excerpt?: string
  /** Identifies a failure of the server, in its log and its answers. */
  readonly digest?: string
  readonly request?: DevRequest
  /** Set by the page: what has caused the request there. The router retries, and all retries have the same cause. */
  readonly cause?: string
}

/** Subject of a warning. */
export type DevWarningKind = 'build' | 'cache' | 'image' | 'link' | 'react' | 'slow' | 'table' | 'title' | 'value'

/** A warning: something works, but should be fixed. */
export interface DevWarning {
  readonly kind: DevWarningKind
  /** The culprit, the rule and the way out. */
  readonly message: string
  /** Where to fix it, if known. */
  readonly frame?: DevFrame
  /** Preformatted text: the times of loaders. */
  readonly detail?: string
}

/** What a page asks the development server to explain: an error, or a warning. */
export interface PageComplaint {
  /** Class of the error. */
  readonly type?: string
  readonly message: string
  readonly stack: string
  /** React's stack of components. */
  readonly components?: string
  /** Set for a warning, which the terminal shows too. */
  readonly warning?: DevWarningKind
  /** Pattern of the page's route, for a warning about the page. */
  readonly route?: string
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
  /** Names and versions of what runs, for copied text. */
  | { readonly type: 'versions'; readonly versions: string }
  /** A build has succeeded: earlier failures are obsolete. */
  | { readonly type: 'built'; readonly build: number }
  /** Modules to import again if the page has them, and stylesheets to reload, by URL path. */
  | { readonly type: 'update'; readonly modules: readonly RenewedModule[]; readonly styles: readonly string[] }
  /** The server gives other data: the page fetches its own again and keeps the rest. */
  | { readonly type: 'refresh' }
  /** Only a new document can show the change. */
  | { readonly type: 'reload' }
  /** `isFirst`: the first failure of a build, which replaces those of the previous build. */
  | { readonly type: 'failure'; readonly failure: DevFailure; readonly isFirst?: true }
  /** All warnings of the newest build, in place of the previous ones. */
  | { readonly type: 'warnings'; readonly warnings: readonly DevWarning[] }
  /** One more warning, about a request. */
  | { readonly type: 'warning'; readonly warning: DevWarning }
