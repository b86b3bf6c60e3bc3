import type { RequestTrace } from './request-trace.ts'
import type { IncomingHttpHeaders } from 'node:http'

/** A measured part of a request's work. */
export interface RequestSpan {
  readonly op: 'loader' | 'render' | 'stream' | 'action' | 'http.client'
  /** Segment id, action id, way of rendering, or method and origin of an outgoing request. */
  readonly name: string
  /** 16 hexadecimal digits, if others already know the id; otherwise it gets one later. */
  readonly spanId?: string
  /** Milliseconds, on the clock of `performance.now()`. */
  readonly startedAt: number
  /** As `startedAt`; `undefined` for a span that lasts until the answer is over. */
  readonly endedAt: number | undefined
  /** Of an outgoing request's answer. */
  readonly status?: number
  /** Why an outgoing request did not finish. `cancelled`: nobody waited for it any more. */
  readonly failure?: 'failed' | 'cancelled'
}

/** A finished request. */
export interface TracedAnswer {
  readonly trace: RequestTrace
  readonly requestId: string
  /** As `clientKey` names it; not part of the transaction. */
  readonly client: string
  readonly method: string
  /** Pattern of the route. */
  readonly route: string
  readonly kind: 'document' | 'data' | 'action'
  readonly status: number
  readonly prefetch: boolean
  /** The answer was cut off. */
  readonly aborted: boolean
  /** It ended in a redirect or refusal, whatever its status. */
  readonly untraced: boolean
  readonly startedAt: number
  readonly endedAt: number
  readonly spans: readonly RequestSpan[]
}

/** Reports failures and traces of this server, through the same intake as browsers. */
export interface ServerReporter {
  /**
   * Continues the trace that a request names, or begins one.
   * @param address of the client, as `ClientAddress` has it.
   */
  traceOf(requestId: string, headers: IncomingHttpHeaders, address: string): RequestTrace
  /** Reports a failure. Call it once per failure; control flow and aborts are ignored. */
  failed(thrown: unknown, digest: string, place: FailurePlace, request: FailedRequest): void
  /** Reports a request that was sampled. */
  answered(answer: TracedAnswer): void
  /**
   * Reports an uncaught failure.
   * @returns resolves when the report is stored.
   */
  fatal(thrown: unknown): Promise<void>
  /** Loads the reporter's code in advance, so that no failure has to. */
  warm(): Promise<void>
  /** Resolves when all reports are stored. */
  flush(): Promise<void>
  /** Stops reporting. */
  dispose(): void
}

/**
 * Facts about a request for the report of its failure. Never its URL, headers or body, because they contain secrets.
 */
interface FailedRequest {
  readonly requestId: string
  readonly req: { readonly method?: string | undefined }
  /** Pattern of the matched route. */
  readonly route: string | undefined
  readonly trace: RequestTrace | undefined
  /** Its client: decides whose share the report counts against, and is not part of it. */
  readonly clientAddress: { readonly address: string }
  /** The status of its answer, if that was sent before the failure. */
  readonly sent?: number | undefined
  /** Why its work was aborted, if it was. */
  readonly aborted?: { readonly cause: 'gone' | 'timeout' } | undefined
}

/** Where an exception came from, for the log. `unawaited`: a promise that nothing handles. */
export type FailurePlace =
  'after' | 'loader' | 'render' | 'stream' | 'deferred' | 'handler' | 'action' | 'server' | 'unawaited'
