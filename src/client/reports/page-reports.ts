import type { RedirectSignal, RefusalSignal } from '../../shared/control-flow.ts'
import type { ReportSettings } from '../../shared/reports/report-settings.ts'
import type { HostedRouter } from '../react/router-types.ts'
/** How a failure was detected. */
export type FailureKind =
  /** An uncaught error. */
  | 'error'
  /** An unhandled rejection. */
  | 'rejection'
  /** A script, stylesheet, image or the like did not load. */
  | 'resource'
  /** By React: shown by an error boundary, by none, or recovered by rendering again. */
  | 'caught'
  | 'uncaught'
  | 'recoverable'

/** A failure in this page. */
export interface PageFailure {
  readonly kind: FailureKind
  /** Anything, if the browser provides it. */
  readonly thrown?: unknown
  /** The browser's message if it provides no value; for a resource, its URL. */
  readonly message?: string
  /** URL of the script, or name of the element. */
  readonly filename?: string
  readonly lineno?: number
  readonly colno?: number
  /** Component stack from React. */
  readonly stack?: string | null | undefined
  /** Seconds since the epoch, as the service expects; `add` fills it in. */
  readonly at?: number
}

/**
 * Collects a page's failures. The recorder at the start of the document creates it, and stores failures; the SDK
 * replaces its members when it takes over.
 */
export interface PageReports {
  readonly settings: ReportSettings
  /** Stored failures. Bounded: a page that fails repeatedly repeats itself. */
  readonly kept: PageFailure[]
  /** The router of the page, set after hydration. */
  router?: HostedRouter
  add(failure: PageFailure): void
  /**
   * Called when the page on screen has thrown a redirect or a refusal: not worth tracing. Set after hydration; the
   * router itself reports its redirects.
   */
  left?(signal: RedirectSignal | RefusalSignal): void
  /** The argument of `left` before the SDK had loaded. */
  early?: RedirectSignal | RefusalSignal
  /** Called when the visitor has agreed: loads the SDK, which sends the stored failures. */
  allow(): void
}

/** A global object that may have reports. */
export interface ReportingPage {
  millraceReports?: PageReports
}

/** The reports of this page; `undefined` if it has none, as on the server. */
export function pageReports(): PageReports | undefined {
  return (globalThis as ReportingPage).millraceReports
}

/**
 * Declares that the visitor has agreed to error reports. Has an effect only if the application asks for consent; call
 * it on each page load while the consent is valid.
 */
export function allowReports(): void {
  pageReports()?.allow()
}
