import type { ProxyAgents } from './proxy-agents.ts'
import type { Forwarded } from './proxy-headers.ts'

/** Why an upstream's answer did not come, or not as a whole. */
export interface ProxyFailure {
  /** What the visitor was told; for an answer that was cut off, what a longer look would have told. */
  readonly status: 400 | 501 | 502 | 504
  /** One of a few words, for the log. */
  readonly reason: 'unreachable' | 'time-out' | 'bad-answer' | 'cut-off' | 'bad-request'
  /** What the platform threw, if anything. */
  readonly cause?: unknown
}

/** How one request is passed on. */
export interface ProxyOptions {
  /**
   * How long the upstream may keep us waiting, in ms: for the connection, for the first byte, and between two pieces of
   * a body. Time that the visitor takes to send or to read does not count.
   */
  readonly timeoutMs: number
  readonly forwarded: Forwarded
  /** Ends both sides when aborted. */
  readonly signal?: AbortSignal | undefined
  /** Connections to share; without them each request has its own. */
  readonly agents?: ProxyAgents | undefined
  /** Told of each failure, for the log. A visitor who leaves is none. */
  readonly onFailure?: ((failure: ProxyFailure) => void) | undefined
}
