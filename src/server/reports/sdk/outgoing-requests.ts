/**
 * Follows the requests that `fetch` sends on behalf of a request of ours: by the channels on which Node tells of them, so
 * that nothing is patched. Each makes a span of a sampled request, and carries the trace on to origins that the
 * application names.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { randomUUID } from 'node:crypto'
import type { RequestHandler } from 'express'
import { baggageHeader, traceHeader } from '../../../shared/reports/trace-header.ts'
import { contextOf } from '../../request/attached-context.ts'
import type { RequestTrace } from '../../request/request-trace.ts'
import type { RequestSpan } from '../../request/request-reporter.ts'
import { isServerFailure } from './is-server-failure.ts'

/** On whose behalf something is asked for. */
export interface OutgoingCaller {
  readonly trace: RequestTrace | undefined
  /** Keeps a span, which may still change until the caller's answer is over. */
  keepSpan(span: RequestSpan): void
}

/** What follows outgoing requests. */
export interface OutgoingRequests {
  /** Middleware: what is fetched behind it is fetched on behalf of its request. */
  readonly handler: RequestHandler
  /** Runs work on behalf of a caller; what it fetches, then or later, is the caller's. */
  run<Result>(caller: OutgoingCaller, work: () => Result): Result
  /** Follows nothing more. */
  dispose(): void
}

/** What it works with. */
export interface OutgoingParts {
  /** Origins that the trace goes on to: `https://api.example.com`. */
  readonly traceOrigins: readonly string[]
  /** Milliseconds, on the clock of `performance.now()`. */
  readonly now: () => number
}

/** A request as Node's channels hand it out: https://undici.nodejs.org/#/docs/api/DiagnosticsChannel */
interface OutgoingRequest {
  readonly origin: string | URL
  readonly method: string
  /** Names and values in turns. */
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

/** Begins to follow. */
export function followOutgoingRequests({ traceOrigins, now }: OutgoingParts): OutgoingRequests {
  const named = new Set(traceOrigins)
  const callers = new AsyncLocalStorage<OutgoingCaller>()
  /** Later messages come in the context of whoever opened the connection, so they are told by the request. */
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
          // No path and no query: those of other services may be secrets.
          name: `${request.method} ${origin}`,
          spanId,
          startedAt: now(),
          endedAt: undefined,
        }
        open.set(request, span)
        caller.keepSpan(span)
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
      // An abort is no failure here, even if the client is still there: the application has stopped it.
      span.failure = isServerFailure(error, true) ? 'failed' : 'cancelled'
    },
  }
  for (const [channel, listener] of Object.entries(listeners)) subscribe(channel, listener as never)

  return {
    handler(req, _res, next) {
      const context = contextOf(req)
      // Where no header goes anywhere, requests that are not sampled are left as they are.
      if (named.size > 0 || context.trace?.sampled === true) callers.run(context, next)
      else next()
    },
    run: (caller, work) => callers.run(caller, work),
    dispose() {
      for (const [channel, listener] of Object.entries(listeners)) unsubscribe(channel, listener as never)
    },
  }
}

/** What the application has set itself stays as it is. */
function handOn(request: OutgoingRequest, trace: RequestTrace): void {
  const has = request.headers.some((name) => typeof name === 'string' && name.toLowerCase() === 'sentry-trace')
  if (has) return
  request.addHeader('sentry-trace', traceHeader(trace))
  const baggage = baggageHeader(trace.sampling)
  if (baggage !== '') request.addHeader('baggage', baggage)
}
