/**
 * Route rules in Next.js's shapes, so that a table can be brought over as it is.
 * Source: the public documentation of `redirects`, `rewrites` and `headers` in `next.config.js`.
 */

/** A condition on the request. `value` is a regular expression, anchored at both ends; named groups are captured. */
export type RuleCondition =
  | { readonly type: 'header' | 'cookie' | 'query'; readonly key: string; readonly value?: string }
  | { readonly type: 'host'; readonly value: string; readonly key?: undefined }

interface Conditional {
  /** A path pattern such as `/old/:slug*`; without case. */
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

/** Sends the visitor elsewhere: `permanent` gives 308 or 307, `statusCode` any redirect status. */
export type RedirectRule = Conditional & { readonly destination: string } & (
    | { readonly permanent: boolean; readonly statusCode?: undefined }
    | { readonly statusCode: number; readonly permanent?: undefined }
  )

/** Answers with another page, or proxies to another origin, under the URL that was asked for. */
export type RewriteRule = Conditional & {
  readonly destination: string
  /**
   * Passes handshakes of WebSockets on that pages of other sites begin, with the visitor's cookies; 403 without. Not
   * known to Next.js.
   */
  readonly websocket?: 'cross-site'
}

/** Sets headers on every answer under `source`. */
export type HeaderRule = Conditional & { readonly headers: readonly { readonly key: string; readonly value: string }[] }

/** Rewrites by phase; a plain list means `afterFiles`. */
export interface RewritePhases {
  readonly beforeFiles?: readonly RewriteRule[]
  readonly afterFiles?: readonly RewriteRule[]
  readonly fallback?: readonly RewriteRule[]
}

/** All rules of an application. */
export interface RuleSet {
  readonly redirects?: readonly RedirectRule[]
  readonly rewrites?: readonly RewriteRule[] | RewritePhases
  readonly headers?: readonly HeaderRule[]
}
