/**
 * Spans of the requests that `fetch` sends, by Node's diagnostics channels: nothing is patched. Only for code that runs
 * inside of a span.
 */
import {
  context,
  propagation,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Span,
  type Tracer,
} from '@opentelemetry/api'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { errorType } from './request-spans.ts'

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

const FAILED = 400 // what is a visitor's fault in a server's span is a fault in its client's

/**
 * Follows outgoing requests. Leaves those alone that carry a trace already: an instrumentation of undici follows them.
 * @returns stops following.
 */
export function followFetches(tracer: Tracer): () => void {
  const open = new WeakMap<OutgoingRequest, Span>()
  const listeners: Readonly<Record<string, (message: OutgoingMessage) => void>> = {
    'undici:request:create': ({ request }) => {
      const caller = trace.getActiveSpan()
      if (caller === undefined || carriesTrace(request)) return
      let sending = context.active()
      if (isSampled(caller)) {
        const span = tracer.startSpan(request.method, { kind: SpanKind.CLIENT, attributes: attributesOf(request) })
        sending = trace.setSpan(sending, span)
        open.set(request, span)
      }
      propagation.inject(sending, request, { set: (to, name, value) => to.addHeader(name, value) })
    },
    'undici:request:headers': ({ request, response }) => {
      const span = open.get(request)
      if (span === undefined || response === undefined) return
      const { statusCode } = response
      span.setAttribute('http.response.status_code', statusCode)
      if (statusCode >= FAILED) fail(span, String(statusCode))
    },
    'undici:request:trailers': ({ request }) => open.get(request)?.end(),
    'undici:request:error': ({ request, error }) => {
      const span = open.get(request)
      if (span === undefined) return
      fail(span, errorType(error))
      span.end()
    },
  }
  for (const [channel, listener] of Object.entries(listeners)) subscribe(channel, listener as never)
  return () => {
    for (const [channel, listener] of Object.entries(listeners)) unsubscribe(channel, listener as never)
  }
}

/** A span that is over does not record, but what a deferred value fetches is still inside of it. */
function isSampled(span: Span): boolean {
  return (span.spanContext().traceFlags & TraceFlags.SAMPLED) !== 0
}

function carriesTrace({ headers }: OutgoingRequest): boolean {
  const fields = new Set(propagation.fields().map((name) => name.toLowerCase()))
  return headers.some((name, at) => at % 2 === 0 && typeof name === 'string' && fields.has(name.toLowerCase()))
}

/** Without path and query: those of other services may be secrets. */
function attributesOf({ origin, method }: OutgoingRequest) {
  const { hostname, port, protocol, origin: full } = new URL(origin)
  return {
    'http.request.method': method,
    'server.address': hostname,
    'server.port': port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
    'url.full': full,
  }
}

function fail(span: Span, type: string): void {
  span.setAttribute('error.type', type)
  span.setStatus({ code: SpanStatusCode.ERROR })
}
