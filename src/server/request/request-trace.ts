import { randomUUID } from 'node:crypto'
import { baggageHeader, parseBaggage, parseTraceHeader, traceHeader } from '../../shared/reports/trace-header.ts'

/** Which trace a request belongs to, and which of its spans the request is. */
export interface RequestTrace {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16 hexadecimal digits. */
  readonly spanId: string
  /** The caller's span, where the trace is continued. */
  readonly parentSpanId: string | undefined
  /** Whether spans are recorded; `undefined` where nobody has decided, and the page may. */
  readonly sampled: boolean | undefined
  /** How the trace was sampled, as the service wants it told with each envelope. */
  readonly sampling: Readonly<Record<string, string>>
}

/** What traces are begun with. */
export interface TraceOptions {
  /** Share of requests that are sampled, 0 to 1; with 0 none is, whatever the caller says. */
  readonly sampleRate: number
  readonly publicKey: string
  readonly release: string
  readonly environment: string
  /** 0 to below 1. */
  readonly random: () => number
}

/** What a request says of itself. */
export interface TracedRequest {
  readonly requestId: string
  /** Of `sentry-trace`. */
  readonly trace: string | undefined
  readonly baggage: string | undefined
  /** Whether a page of this site has sent it, and may have it sampled. Asked only where the caller wants that. */
  readonly mayDecide: () => boolean
}

const TRACE_ID = /^[0-9a-f]{32}$/
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/
const SPAN_ID_DIGITS = 16

/**
 * Continues the caller's trace, or begins one. A caller can always keep its trace from being sampled; to have it sampled,
 * it must be a page of this site. Anybody else's wish is left to chance, like a trace that begins here. Its ids are that of the request where it can be one, so that log and trace
 * know each other, and nothing more is drawn at random.
 */
export function beginTrace(
  { requestId, trace, baggage, mayDecide }: TracedRequest,
  options: TraceOptions,
): RequestTrace {
  const own = traceIdOf(requestId) ?? randomUUID().replaceAll('-', '')
  const spanId = own.slice(-SPAN_ID_DIGITS)
  const caller = parseTraceHeader(trace)
  const { sampleRate } = options
  if (caller !== undefined) {
    const { traceId, spanId: parentSpanId } = caller
    const continued = { traceId, spanId, parentSpanId }
    if (sampleRate === 0 || caller.sampled !== true) return { ...continued, sampled: false, sampling: {} }
    if (mayDecide()) return { ...continued, sampled: true, sampling: parseBaggage(baggage) }
    return { ...continued, ...drawSampling(traceId, options) }
  }
  const begun = { traceId: own, spanId, parentSpanId: undefined }
  if (sampleRate === 0) return { ...begun, sampled: undefined, sampling: {} }
  return { ...begun, ...drawSampling(own, options) }
}

function drawSampling(traceId: string, options: TraceOptions): Pick<RequestTrace, 'sampled' | 'sampling'> {
  const drawn = options.random()
  const sampled = drawn < options.sampleRate
  return { sampled, sampling: sampled ? samplingOf(traceId, drawn, options) : {} }
}

/**
 * What the page continues, as entries of `Server-Timing`: unlike tags they come anew with a 304, and the document stays
 * the same. For answers that nobody but this visitor gets.
 */
export function traceTimings(trace: RequestTrace): string {
  const entry = `sentry-trace;desc="${traceHeader(trace)}"`
  return trace.sampled === true ? `${entry}, baggage;desc="${baggageHeader(trace.sampling)}"` : entry
}

/** Proxies give UUIDs, or the same digits without dashes. */
function traceIdOf(requestId: string): string | undefined {
  if (TRACE_ID.test(requestId)) return requestId
  return UUID.test(requestId) ? requestId.replaceAll('-', '') : undefined
}

function samplingOf(traceId: string, drawn: number, options: TraceOptions): Record<string, string> {
  return {
    trace_id: traceId,
    public_key: options.publicKey,
    release: options.release,
    environment: options.environment,
    sample_rate: String(options.sampleRate),
    sample_rand: drawn.toFixed(6),
    sampled: 'true',
  }
}
