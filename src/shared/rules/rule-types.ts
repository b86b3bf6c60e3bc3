/**
 * Route rules in the format of Next.js, so that tables can be copied unchanged. Source: the public documentation of
 * `redirects`, `rewrites` and `headers` in `next.config.js`.
 */

/** A condition on the request. `value` is a regular expression, anchored at both ends; named groups are captured. */
export type RuleCondition =
  | { readonly type: 'header' | 'cookie' | 'query'; readonly key: string; readonly value?: string }
  | { readonly type: 'host'; readonly value: string; readonly key?: undefined }

interface Conditional {
  /** A path pattern such as `/old/:slug*`; ignores case. */
  readonly source: string
  /** All must hold. */
  readonly has?: readonly RuleCondition[]
  /** None may hold. */
  readonly missing?: readonly RuleCondition[]
  /** Accepted for compatibility; no base path exists here. */
  readonly basePath?: false
  /** Accepted for compatibility; no locales exist here. */
  readonly locale?: false
}

/** Redirects the visitor: `permanent` gives 308 or 307, `statusCode` any redirect status. */
type RedirectRule = Conditional & { readonly destination: string } & (
    | { readonly permanent: boolean; readonly statusCode?: undefined }
    | { readonly statusCode: number; readonly permanent?: undefined }
  )

/** Answers with another page, or proxies to another origin, under the requested URL. */
export type RewriteRule = Conditional & {
  readonly destination: string
  /**
   * Forwards WebSocket handshakes from pages of other sites, with the visitor's cookies; without it they get 403. Not
   * part of Next.js.
   */
  readonly websocket?: 'cross-site'
  /**
   * Forwards encoded slashes and backslashes to another server; without it they get 400, because most servers decode them,
   * and middleware that protects a part of the path does not see one. Not part of Next.js.
   */
  readonly encodedSlashes?: true
}

/** Sets headers on every answer whose path matches `source`. */
type HeaderRule = Conditional & { readonly headers: readonly { readonly key: string; readonly value: string }[] }

/** Rewrites by phase; a plain list means `afterFiles`. */
export interface RewritePhases {
  readonly beforeFiles?: readonly RewriteRule[]
  readonly afterFiles?: readonly RewriteRule[]
  readonly fallback?: readonly RewriteRule[]
}

/** All rules of an application. */
export interface RuleSet {
  /** Checked before rewrites and pages; the first match wins. */
  readonly redirects?: readonly RedirectRule[] | undefined
  /** The first match wins. A plain list means `afterFiles`. */
  readonly rewrites?: readonly RewriteRule[] | RewritePhases | undefined
  /** All matches count. */
  readonly headers?: readonly HeaderRule[] | undefined
}
