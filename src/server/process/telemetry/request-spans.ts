/**
 * The spans of a request. As private as its log line: patterns instead of paths, and no query, header, body, address or
 * text of an error. Every value is a constant, a name in the application's sources, a number, or bounded.
 */
import {
  context as active,
  propagation,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Link,
  type Span,
  type Tracer,
} from '@opentelemetry/api'
import type { ProxyTrust } from '../../http/trusted-proxy.ts'
import { errorDigest } from '../../request/answer/failure.ts'
import { judgeThrown } from '../../request/answer/judge-thrown.ts'
import type { RequestContext } from '../../request/context.ts'
import type { PartKind, RequestPart, RequestTelemetry } from '../../request/request-telemetry.ts'
import type { RequestRecord } from '../../request/request-record.ts'
import { methodLabel, routeLabel } from '../metrics/request-labels.ts'

const MOST_CHARACTERS = 100 // of an error's name, which the application may have made of anything

/** Makes the span of a request. */
export type FollowRequest = (request: RequestContext) => RequestTelemetry

/**
 * Follows requests.
 * @param trustProxy decides whose trace is continued. Any other caller could have all its requests sampled, so its trace
 * is only linked.
 */
export function followRequests(tracer: Tracer, trustProxy: ProxyTrust): FollowRequest {
  return (request) => {
    const { req, record } = request
    const around = active.active()
    const outer = trace.getSpan(around)
    if (outer !== undefined && isServerSpan(outer)) return new RequestSpans(tracer, request, { span: outer, around })
    const { parent, links } =
      outer === undefined ? callerOf(request, around, trustProxy) : { parent: around, links: [] }
    const method = methodOf(record)
    const attributes: Attributes = {
      'http.request.method': method,
      'url.scheme': record.protocol,
      'network.protocol.version': req.httpVersion,
      'millrace.request_id': record.requestId,
    }
    const kind = outer === undefined ? SpanKind.SERVER : SpanKind.INTERNAL
    const span = tracer.startSpan(shownMethod(method), { kind, attributes, links }, parent)
    return new RequestSpans(tracer, request, { span, around: parent, isOwn: true })
  }
}

/** Of the SDK's spans; the API does not show it. Instrumentations of `node:http` have made one already. */
function isServerSpan(span: Span): boolean {
  return 'kind' in span && span.kind === SpanKind.SERVER
}

function callerOf({ req }: RequestContext, around: Context, trustProxy: ProxyTrust) {
  // A visitor can write baggage, and it would go on to all that is asked during the request.
  const caller = propagation.deleteBaggage(propagation.extract(around, req.headers))
  if (trustProxy(req.socket.remoteAddress)) return { parent: caller, links: [] }
  const named = trace.getSpanContext(caller)
  if (named === undefined) return { parent: around, links: [] }
  const { traceId, spanId, traceFlags } = named
  const links: Link[] = [{ context: { traceId, spanId, traceFlags, isRemote: true } }]
  return { parent: around, links }
}

interface OpenedSpan {
  readonly span: Span
  /** The context of the span's parent. */
  readonly around: Context
  /** Whether it ends with the request; otherwise an instrumentation of `node:http` ends it. */
  readonly isOwn?: boolean
}

class RequestSpans implements RequestTelemetry {
  readonly traceId: string | undefined
  readonly #tracer: Tracer
  readonly #request: RequestContext
  readonly #span: Span
  readonly #isOwn: boolean
  readonly #context: Context
  #open: Set<PartSpan> | undefined = undefined
  #stream: PartSpan | undefined = undefined
  #failure: Attributes | undefined = undefined

  constructor(tracer: Tracer, request: RequestContext, { span, around, isOwn = false }: OpenedSpan) {
    this.#tracer = tracer
    this.#request = request
    this.#span = span
    this.#isOwn = isOwn
    this.#context = isOwn ? trace.setSpan(around, span) : around
    const isRecording = span.isRecording()
    this.traceId = isRecording ? span.spanContext().traceId : undefined
    if (isRecording) request.onFinish(this.#end.bind(this))
  }

  run<Result>(work: () => Result): Result {
    return active.with(this.#context, work)
  }

  begin(kind: PartKind, name?: string): RequestPart | undefined {
    if (this.traceId === undefined) return undefined
    const attributes = name === undefined ? {} : { [`millrace.${kind}`]: name }
    const span = this.#tracer.startSpan(name === undefined ? kind : `${kind} ${name}`, { attributes }, this.#context)
    const part = new PartSpan(this.#request, span, trace.setSpan(this.#context, span))
    ;(this.#open ??= new Set()).add(part)
    if (kind === 'stream') this.#stream = part
    return part
  }

  failed(thrown: unknown, digest: string): void {
    if (this.traceId === undefined) return
    const failure = failureOf(thrown, digest)
    this.#failure ??= failure
    // The other parts end with what they throw.
    this.#stream?.failed(failure)
  }

  #end(): void {
    for (const part of this.#open ?? []) part.end()
    const { record } = this.#request
    const { aborted, kind, route, status } = record
    const pattern = patternOf(record)
    const span = this.#span
    span.setAttributes({
      'millrace.kind': kind,
      ...(pattern === undefined ? {} : { 'http.route': pattern, 'url.path': route ?? pattern }),
      ...(status === 0 ? {} : { 'http.response.status_code': status }),
      ...(aborted ? { 'millrace.aborted': true } : {}),
      ...(status >= 500 ? { 'error.type': String(status) } : {}),
      ...this.#failure,
    })
    if (pattern !== undefined) span.updateName(`${shownMethod(methodOf(record))} ${pattern}`)
    if (status >= 500 || this.#failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR })
    if (this.#isOwn) span.end()
  }
}

class PartSpan implements RequestPart {
  readonly #request: RequestContext
  readonly #span: Span
  readonly #context: Context
  #isOver = false

  constructor(request: RequestContext, span: Span, context: Context) {
    this.#request = request
    this.#span = span
    this.#context = context
  }

  run<Result>(work: () => Result): Result {
    return active.with(this.#context, work)
  }

  failed(failure: Attributes): void {
    if (this.#isOver) return
    this.#span.setAttributes(failure)
    this.#span.setStatus({ code: SpanStatusCode.ERROR })
  }

  end(thrown?: readonly [unknown]): void {
    if (this.#isOver) return
    if (thrown !== undefined) this.#note(thrown[0])
    this.#isOver = true
    this.#span.end()
  }

  #note(thrown: unknown): void {
    const judged = judgeThrown(thrown)
    if (judged.kind === 'redirect') this.#span.setAttribute('millrace.outcome', 'redirect')
    else if (judged.kind === 'refusal') this.#span.setAttribute('millrace.outcome', judged.refusal)
    else if (this.#request.aborted?.cause === 'gone') this.#span.setAttribute('millrace.aborted', true)
    else this.failed(failureOf(judged.thrown, errorDigest(judged.thrown)))
  }
}

function failureOf(thrown: unknown, digest: string): Attributes {
  return { 'error.type': errorType(thrown), 'millrace.digest': digest }
}

/** The class of an error, never its message. */
export function errorType(thrown: unknown): string {
  return thrown instanceof Error ? String(thrown.name).slice(0, MOST_CHARACTERS) : typeof thrown
}

const OTHER_METHOD = '_OTHER' // of HTTP's semantic conventions

/** One of the usual methods, or `_OTHER`. */
export function methodOf({ method }: Pick<RequestRecord, 'method'>): string {
  const label = methodLabel(method)
  return label === 'other' ? OTHER_METHOD : label
}

/** The page's for its data as well; `undefined` if nothing matched, and for external rewrites. */
export function patternOf({ route }: Pick<RequestRecord, 'route'>): string | undefined {
  return route === undefined || route.startsWith('->') ? undefined : routeLabel(route)
}

function shownMethod(method: string): string {
  return method === OTHER_METHOD ? 'HTTP' : method
}
