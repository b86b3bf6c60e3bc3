/**
 * Follows the requests that `fetch` sends on behalf of an incoming request, through Node's diagnostics channels, so
 * that nothing is patched. Each becomes a span of a sampled request, and carries the trace to origins that the
 * application names.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { randomUUID } from 'node:crypto'
import type { RequestHandler } from 'express'
import { baggageHeader, traceHeader } from '../../../shared/reports/trace-header.ts'
import { contextOf } from '../../request/attached-context.ts'
import type { RequestRecord } from '../../request/request-record.ts'
import type { RequestTrace } from '../../request/request-trace.ts'
import type { RequestSpan } from '../../request/request-reporter.ts'
import { isServerFailure } from './is-server-failure.ts'

/** The incoming request for which `fetch` is called. */
interface OutgoingCaller {
  readonly trace: RequestTrace | undefined
  readonly record: Pick<RequestRecord, 'keepSpan'>
}

/** What follows outgoing requests. */
export interface OutgoingRequests {
  /** Middleware: requests sent by later handlers belong to their incoming request. */
  readonly handler: RequestHandler
  /** Runs work on behalf of a caller; its requests, now or later, belong to the caller. */
  run<Result>(caller: OutgoingCaller, work: () => Result): Result
  /** Stops following. */
  dispose(): void
}

/** Parts for following requests. */
interface OutgoingParts {
  /** Origins that receive the trace: `https://api.example.com`. */
  readonly traceOrigins: readonly string[]
  /** Milliseconds, on the clock of `performance.now()`. */
  readonly now: () => number
}

/** A request as Node's channels publish it: https://undici.nodejs.org/#/docs/api/DiagnosticsChannel */
interface OutgoingRequest {
  readonly origin: string | URL
  readonly method: string
  /** Names and values in turn. */
  readonly headers: readonly unknown[]
  addHeader(name: string, value: string): void
}

interface OutgoingMessage {
  readonly request: OutgoingRequest
  readonly response?: { readonly statusCode: number }
  readonly error?: unknown
}

type OpenSpan = { -readonly [Member in keyof RequestSpan]: RequestSpan[Member] }

const SPAN_ID_START = 16 // of 32 hexadecimal digits; the first half of a UUID holds its version

/** Starts to follow. */
export function followOutgoingRequests({ traceOrigins, now }: OutgoingParts): OutgoingRequests {
  const named = new Set(traceOrigins)
  const callers = new AsyncLocalStorage<OutgoingCaller>()
  /** Later messages arrive in the context of the code that opened the connection, so the request is the key. */
  const open = new WeakMap<OutgoingRequest, OpenSpan>()

  const listeners: Readonly<Record<string, (message: OutgoingMessage) => void>> = {
    'undici:request:create': ({ request }) => {
      const caller = callers.getStore()
      const trace = caller?.trace
      if (caller === undefined || trace === undefined) return
      const origin = String(request.origin)
      const spanId = trace.sampled === true ? randomUUID().replaceAll('-', '').slice(SPAN_ID_START) : trace.spanId
      if (trace.sampled === true) {
        const span: OpenSpan = {
          op: 'http.client',
          // Without path and query: those of other services may be secrets.
          name: `${request.method} ${origin}`,
          spanId,
          startedAt: now(),
          endedAt: undefined,
        }
        open.set(request, span)
        caller.record.keepSpan(span)
      }
      if (named.has(origin)) handOn(request, { ...trace, spanId })
    },
    'undici:request:headers': ({ request, response }) => {
      const span = open.get(request)
      if (span !== undefined && response !== undefined) span.status = response.statusCode
    },
    'undici:request:trailers': ({ request }) => {
      const span = open.get(request)
      if (span !== undefined) span.endedAt = now()
    },
    'undici:request:error': ({ request, error }) => {
      const span = open.get(request)
      if (span === undefined) return
      span.endedAt = now()
      // An abort is not a failure here, even if the client is still connected: the application has caused it.
      span.failure = isServerFailure(error, true) ? 'failed' : 'cancelled'
    },
  }
  for (const [channel, listener] of Object.entries(listeners)) subscribe(channel, listener as never)

  return {
    handler(req, _res, next) {
      const context = contextOf(req)
      // If no origin receives headers, unsampled requests are not followed.
      if (named.size > 0 || context.trace?.sampled === true) callers.run(context, next)
      else next()
    },
    run: (caller, work) => callers.run(caller, work),
    dispose() {
      for (const [channel, listener] of Object.entries(listeners)) unsubscribe(channel, listener as never)
    },
  }
}

/** Headers that the application has set stay unchanged. */
function handOn(request: OutgoingRequest, trace: RequestTrace): void {
  const has = request.headers.some((name, at) => at % 2 === 0 && String(name).toLowerCase() === 'sentry-trace')
  if (has) return
  request.addHeader('sentry-trace', traceHeader(trace))
  const baggage = baggageHeader(trace.sampling)
  if (baggage !== '') request.addHeader('baggage', baggage)
}
