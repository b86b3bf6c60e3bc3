/** The errors of the client router, with the words that contract section 9 gives them. */

/** A navigation or its requests were overtaken by another, or given up. Never a failure. */
export class RouteCancelled extends Error {
  override readonly name = 'RouteCancelled'

  constructor() {
    super('Route cancelled')
  }
}

/** What a route is made of. */
export type RoutePart = 'script' | 'stylesheet' | 'route data'

/** What has kept a part away: nobody of this site has answered, or its server has, with another status than 200. */
export type FailureReason = 'offline' | 'server'

/** What else is known of a part that did not come. */
export interface RouteLoadErrorOptions {
  readonly passing?: boolean
  readonly retryAfterMs?: number | undefined
  readonly status?: number | undefined
  readonly reason?: FailureReason
  readonly cause?: unknown
}

/** A part of a route that did not come. */
export class RouteLoadError extends Error {
  override readonly name = 'RouteLoadError'
  declare readonly part: RoutePart
  /** Whether another try may go better: a server's 5xx, a dead connection, an answer that broke off. */
  declare readonly passing: boolean
  /** Milliseconds after which the server wants to be asked again. */
  declare readonly retryAfterMs: number | undefined
  /** HTTP status of an answer that was another than asked for; 413 where what was sent is too large. */
  declare readonly status: number | undefined
  declare readonly reason: FailureReason

  constructor(part: RoutePart, url: string, options: RouteLoadErrorOptions = {}) {
    super(`Failed to load ${part}: ${url}`, { cause: options.cause })
    this.part = part
    this.passing = options.passing ?? false
    this.retryAfterMs = options.retryAfterMs
    this.status = options.status
    this.reason = options.reason ?? (part === 'route data' ? 'server' : 'offline')
  }
}

/** The URL of a script that could not be imported: most browsers say in their error which one it was. */
export function urlIn(cause: unknown): string | undefined {
  return /https?:\S+/.exec(String(cause))?.[0]
}

/** More redirects in a row than any site means: they lead to each other. */
export class RedirectLoopError extends Error {
  override readonly name = 'RedirectLoopError'

  constructor(href: string) {
    super(`Too many redirects from ${href}`)
  }
}
