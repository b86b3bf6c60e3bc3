import type { RedirectSignal, RefusalSignal } from '../../shared/control-flow.ts'
import type { ReportSettings } from '../../shared/reports/report-settings.ts'
import type { HostedRouter } from '../react/router-types.ts'
/** How a failure came to be known. */
export type FailureKind =
  /** Nobody has caught it. */
  | 'error'
  /** A promise was rejected, and nobody listened. */
  | 'rejection'
  /** A script, stylesheet, image or the like did not come. */
  | 'resource'
  /** By React: shown by an error boundary, by none, or mended by rendering again. */
  | 'caught'
  | 'uncaught'
  | 'recoverable'

/** Something that has failed in this page. */
export interface PageFailure {
  readonly kind: FailureKind
  /** Anything, where the browser hands it out. */
  readonly thrown?: unknown
  /** What the browser says where it hands nothing out; of a resource, its URL. */
  readonly message?: string
  /** URL of the script, or name of the element. */
  readonly file?: string
  readonly line?: number
  readonly column?: number
  /** Of components, as React gives it. */
  readonly stack?: string | null | undefined
  /** Seconds since the epoch, as the service has it; filled in by `add`. */
  readonly at?: number
}

/**
 * Where a page's failures go. The recorder in the document's first bytes makes it, and keeps what it is told; the SDK
 * replaces its members when it takes over.
 */
export interface PageReports {
  readonly settings: ReportSettings
  /** What was kept. Bounded: a page that fails over and over says the same. */
  readonly kept: PageFailure[]
  /** The router of the page, set once the page is alive. */
  router?: HostedRouter
  add(failure: PageFailure): void
  /**
   * The page on the screen has thrown a redirect or a refusal: no visit worth tracing. Set once the page is alive; of
   * redirects the router tells by itself.
   */
  left?(signal: RedirectSignal | RefusalSignal): void
  /** What `left` was told before the SDK was there. */
  early?: RedirectSignal | RefusalSignal
  /** The visitor has agreed: the SDK may be loaded, and sends what was kept. */
  allow(): void
}

/** A global object that may have reports. */
export interface ReportingPage {
  millraceReports?: PageReports
}

/** The reports of this page; `undefined` where it has none, as on the server. */
export function pageReports(): PageReports | undefined {
  return (globalThis as ReportingPage).millraceReports
}

/**
 * Says that the visitor has agreed to error reports. Only of effect where the application asks for consent; to be
 * called on each page load, as long as the consent stands.
 */
export function allowReports(): void {
  pageReports()?.allow()
}
