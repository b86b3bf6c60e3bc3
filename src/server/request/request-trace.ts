import { randomUUID } from 'node:crypto'
import { baggageHeader, parseBaggage, parseTraceHeader, traceHeader } from '../../shared/reports/trace-header.ts'

/** The trace of a request, and the request's span in it. */
export interface RequestTrace {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16 hexadecimal digits. */
  readonly spanId: string
  /** The caller's span, if the trace is continued. */
  readonly parentSpanId: string | undefined
  /** Whether spans are recorded; `undefined` if undecided, so that the page may decide. */
  readonly sampled: boolean | undefined
  /** Sampling facts that the service expects with each envelope. */
  readonly sampling: Readonly<Record<string, string>>
}

/** Options of new traces. */
interface TraceOptions {
  /** Share of requests that are sampled, 0 to 1; with 0 none is, whatever the caller wants. */
  readonly sampleRate: number
  readonly publicKey: string
  readonly release: string
  readonly environment: string
  /** 0 to below 1. */
  readonly random: () => number
}

/** Tracing headers of a request. */
interface TracedRequest {
  readonly requestId: string
  /** Of `sentry-trace`. */
  readonly trace: string | undefined
  readonly baggage: string | undefined
  /** Whether a page of this site has sent it and may have it sampled. Called only if the caller wants that. */
  readonly mayDecide: () => boolean
}

const TRACE_ID = /^[0-9a-f]{32}$/
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/
const SPAN_ID_DIGITS = 16
/** SDKs write a few hundred. A visitor may send 8 KiB, which encoding makes longer, and a proxy bounds the headers. */
const MOST_BAGGAGE_BYTES = 2_048

/**
 * Continues the caller's trace, or begins one. Every caller can prevent sampling; only pages of this site can request
 * it. For other callers, as for new traces, chance decides. A new trace takes the request's id if possible, so that log
 * and trace refer to each other and no further random numbers are needed.
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
 * The trace that the page continues, as entries of `Server-Timing`: unlike tags they are new with each 304, and the
 * document stays the same. Only for answers that are private to this visitor.
 */
export function traceTimings(trace: RequestTrace): string {
  const entry = `sentry-trace;desc="${traceHeader(trace)}"`
  if (trace.sampled !== true) return entry
  const baggage = baggageHeader(trace.sampling)
  return baggage.length > MOST_BAGGAGE_BYTES ? entry : `${entry}, baggage;desc="${baggage}"`
}

/** Proxies send UUIDs, or the same digits without dashes. */
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

/** The field of log lines for the trace of a caller; none if it is the request's own. */
export function traceField({ otherTraceId }: { readonly otherTraceId: string | undefined }): {
  readonly traceId?: string
} {
  return otherTraceId === undefined ? {} : { traceId: otherTraceId }
}
