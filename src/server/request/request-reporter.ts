import type { RequestTrace } from './request-trace.ts'
import type { IncomingHttpHeaders } from 'node:http'

/** A part of a request's work, measured while it was done. */
export interface RequestSpan {
  readonly op: 'loader' | 'render' | 'stream' | 'action' | 'http.client'
  /** Segment id, action id, way of rendering, or method and origin of an outgoing request. */
  readonly name: string
  /** 16 hexadecimal digits, where others have been told of the span; else it is given some. */
  readonly spanId?: string
  /** Milliseconds, on the clock of `performance.now()`. */
  readonly startedAt: number
  /** As `startedAt`; `undefined` for what lasts until the answer is over. */
  readonly endedAt: number | undefined
  /** Of an outgoing request's answer. */
  readonly status?: number
  /** Why an outgoing request has not come to its end. `cancelled`: nobody waited for it any more. */
  readonly failure?: 'failed' | 'cancelled'
}

/** A request that is over. */
export interface TracedAnswer {
  readonly trace: RequestTrace
  readonly requestId: string
  /** As `clientKey` names it; no part of the transaction. */
  readonly client: string
  readonly method: string
  /** Pattern of the route. */
  readonly route: string
  readonly kind: 'document' | 'data' | 'action'
  readonly status: number
  readonly prefetch: boolean
  /** The answer was cut off. */
  readonly aborted: boolean
  /** It ended in a redirect or refusal, whatever its status says. */
  readonly left: boolean
  readonly startedAt: number
  readonly endedAt: number
  readonly spans: readonly RequestSpan[]
}

/** Reports what happens on this server: to the same place, by the same way in, as browsers do. */
export interface ServerReporter {
  /**
   * Continues the trace that a request names, or begins one.
   * @param address of the client, as `ClientAddress` has it.
   */
  traceOf(requestId: string, headers: IncomingHttpHeaders, address: string): RequestTrace
  /** Reports a failure. To be called once a failure; what is no failure is left out. */
  failed(thrown: unknown, digest: string, place: FailurePlace, request: FailedRequest): void
  /** Reports a request that was sampled. */
  answered(answer: TracedAnswer): void
  /**
   * Reports what nobody has caught.
   * @returns resolves when it has been kept.
   */
  fatal(thrown: unknown): Promise<void>
  /** Loads what the first report needs, so that no failure has to. */
  warm(): Promise<void>
  /** Resolves when all that was reported has been kept. */
  flush(): Promise<void>
  /** Reports nothing more. */
  dispose(): void
}

/** What of a request goes into the report of its failure. Never its URL, headers or body: those hold secrets. */
export interface FailedRequest {
  readonly requestId: string
  readonly req: { readonly method?: string | undefined }
  /** Pattern of the matched route. */
  readonly route: string | undefined
  readonly trace: RequestTrace | undefined
  /** Where it came from: counts for whom, and is no part of the report. */
  readonly clientAddress: { readonly address: string }
  /** Why its work was stopped, if it was. */
  readonly aborted?: { readonly cause: 'gone' | 'timeout' } | undefined
}

/** Where an exception came from, for the log. */
export type FailurePlace = 'after' | 'loader' | 'render' | 'stream' | 'deferred' | 'handler' | 'action' | 'server'
