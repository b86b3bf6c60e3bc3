/** The errors of the client router, in words that a visitor may read. */

/** A navigation or its requests were replaced by another, or cancelled. Never a failure. */
export class RouteCancelled extends Error {
  override readonly name = 'RouteCancelled'

  constructor() {
    super('Route cancelled')
  }
}

/** The parts of a route. */
type RoutePart = 'script' | 'stylesheet' | 'route data'

/** Why a part did not load: no answer from this site, or the status of the answer is not 200. */
type FailureReason = 'offline' | 'server'

/** Further facts about a part that did not load. */
interface RouteLoadErrorOptions {
  readonly passing?: boolean
  readonly retryAfterMs?: number | undefined
  readonly status?: number | undefined
  readonly reason?: FailureReason
  readonly cause?: unknown
}

/** A part of a route that did not load. */
export class RouteLoadError extends Error {
  override readonly name = 'RouteLoadError'
  declare readonly part: RoutePart
  /** Whether a retry may succeed: a server's 5xx, a dead connection, an interrupted answer. */
  declare readonly passing: boolean
  /** Milliseconds after which the server wants the retry. */
  declare readonly retryAfterMs: number | undefined
  /** HTTP status of an unexpected answer; 413 if the sent body is too large. */
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

/** The URL of a script that could not be imported: most browsers put it into the error message. */
export function urlIn(cause: unknown): string | undefined {
  return /https?:\S+/.exec(String(cause))?.[0]
}

/** More redirects in a row than any site intends: they form a loop. */
export class RedirectLoopError extends Error {
  override readonly name = 'RedirectLoopError'

  constructor(href: string) {
    super(`Too many redirects from ${href}`)
  }
}
