import type { BodyStatus } from '../../http/body/body-error.ts'
import type { ProxyAgents } from './proxy-agents.ts'
import type { Forwarded } from './proxy-headers.ts'

/** Why an upstream's answer is missing or incomplete. */
export interface ProxyFailure {
  /** Status sent to the visitor; for an answer that was cut off, the status that it would have had. */
  readonly status: BodyStatus | 501 | 502 | 504
  /** Constant word for the log. */
  readonly reason: 'unreachable' | 'time-out' | 'bad-answer' | 'cut-off' | 'bad-request'
  /** The platform's error, if any. */
  readonly cause?: unknown
}

/** Options for forwarding one request. */
export interface ProxyOptions {
  /**
   * Longest wait for the upstream, in ms: for the connection, for the first byte, and between two chunks of a body.
   * Time that the visitor takes to send or to read does not count.
   */
  readonly timeoutMs: number
  readonly forwarded: Forwarded
  /** Ends both sides when aborted. */
  readonly signal?: AbortSignal | undefined
  /** Connections to share; without them each request has its own. */
  readonly agents?: ProxyAgents | undefined
  /** Called for each failure, for the log. A visitor who disconnects is not a failure. */
  readonly onFailure?: ((failure: ProxyFailure) => void) | undefined
}
