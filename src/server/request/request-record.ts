import { kindOf, type HeadTiming, type KindFacts, type RequestKind, type ShedReason } from './request-kind.ts'
import type { RequestSpan } from './request-reporter.ts'
import type { PartKind, RequestPart, RequestTelemetry } from './request-telemetry.ts'

const MOST_SPANS = 200 // per request; only outgoing requests are bounded by nothing else

/** What is known of a request when it arrives. */
interface RecordedRequest {
  /** Made here, or validated: letters, digits and `_.:-`. */
  readonly requestId: string
  readonly method: string
  readonly protocol: 'http' | 'https'
  /** Milliseconds, on the clock of `performance.now()`. */
  readonly startedAt: number
}

/** How a request has ended. */
interface RequestEnd {
  readonly method: string
  /** 0 if the client disconnected before an answer began. */
  readonly status: number
  /** On the wire, headers included. */
  readonly bytes: number
  /** The answer was cut off. */
  readonly aborted: boolean
  /** 32 hexadecimal digits, if the request belongs to a trace with an id different from its own. */
  readonly traceId: string | undefined
}

/** What is measured. */
export interface MeasuredPart<Result> {
  readonly kind: PartKind
  /** Segment or action, in the words of the application. */
  readonly name?: string | undefined
  /** Its name for the error service, if that differs; it gets no span for `undefined`. */
  readonly spanName?: (result: Result) => string | undefined
  /** What the part has thrown, if it resolves with that instead of throwing it. */
  readonly thrownIn?: (result: Result) => readonly [unknown] | undefined
}

/** A part in progress. */
interface OpenPart<Result> {
  readonly part: MeasuredPart<Result>
  /** As `RequestRecord.startedAt`. */
  readonly startedAt: number
  readonly followed: RequestPart | undefined
}

const OPERATIONS: Readonly<Record<PartKind, RequestSpan['op']>> = {
  loader: 'loader',
  shell: 'render',
  stream: 'stream',
  action: 'action',
}

/**
 * What is observed of a request. Whatever handles it notes here; log line, metrics, traces and telemetry read it when the
 * request is over.
 */
export class RequestRecord implements RecordedRequest, RequestEnd {
  readonly requestId: string
  readonly protocol: 'http' | 'https'
  readonly startedAt: number
  /** As it arrived, and in the end as middleware has left it. */
  method: string
  /** Pattern of the matched route. */
  route: string | undefined = undefined
  /**
   * Kind of answer, which also decides whose policy it gets (`send`). Data, prefetches and actions are distinguished when the
   * request is over.
   */
  kind: RequestKind = 'other'
  /** Place in the source of the action that has been called. */
  actionName: string | undefined = undefined
  /** Why the request was refused, if it was. */
  refused: string | undefined = undefined
  /** How a page with `cache: 'shared'` was answered: `hit`, `stale`, `miss`, or `bypass: ` and why. */
  cache: string | undefined = undefined
  /** The outcome of an answer whose status had been sent before: a refusal's kind, `redirect`, or `failure`. */
  late: string | undefined = undefined
  /** Why it was shed. */
  shed: ShedReason | undefined = undefined
  /** How the time up to the headers of a document or its data was spent. */
  timing: HeadTiming | undefined = undefined
  /** Milliseconds of a render at once that was thrown away, because only a stream can wait. */
  discardedMs = 0
  /** The answer is a redirect or a refusal, whatever its status: not worth tracing. */
  untraced = false
  /** The connection has switched to another protocol: there is no answer to measure. */
  switched = false
  /** Its span of OpenTelemetry, if the application has registered a provider. */
  telemetry: RequestTelemetry | undefined = undefined
  status = 0
  bytes = 0
  aborted = false
  traceId: string | undefined = undefined
  /** As `startedAt`. */
  endedAt = 0
  #spans: RequestSpan[] | undefined = undefined
  #answerFrom = 0

  constructor({ requestId, method, protocol, startedAt }: RecordedRequest) {
    this.requestId = requestId
    this.method = method
    this.protocol = protocol
    this.startedAt = startedAt
  }

  /** Notes that the request is over. */
  end({ method, status, bytes, aborted, traceId }: RequestEnd, facts: KindFacts): void {
    this.method = method
    this.status = status
    this.bytes = bytes
    this.aborted = aborted
    this.traceId = traceId
    this.endedAt = performance.now()
    this.kind = kindOf(this.kind, facts)
  }

  /** From the first byte of the request to the last of its answer, in tenths. */
  get durationMs(): number {
    return Math.round((this.endedAt - this.startedAt) * 10) / 10
  }

  /** Its parts that were measured, and its outgoing requests, so far. */
  get spans(): readonly RequestSpan[] {
    return this.#spans ?? []
  }

  /** Loaders of the answer that have finished so far, for `Server-Timing`. */
  get loaders(): readonly RequestSpan[] {
    return this.spans.filter(({ op, startedAt }) => op === 'loader' && startedAt > this.#answerFrom)
  }

  /** Loaders before this were asked for an action, and are not those of the answer. */
  startAnswer(): void {
    this.#answerFrom = performance.now()
  }

  /** Keeps the span of an outgoing request. It may change until the answer is over. */
  keepSpan(span: RequestSpan): void {
    this.#spans ??= []
    if (this.#spans.length < MOST_SPANS) this.#spans.push(span)
  }

  /**
   * Measures a part of the request's work, for `Server-Timing`, the error service and OpenTelemetry, whose context is
   * active inside of it.
   * @returns what the work returns; a promise only if that is one.
   */
  measure<Result>(part: MeasuredPart<Awaited<Result>>, work: () => Result): Result {
    const followed = this.telemetry?.begin(part.kind, part.name)
    const open: OpenPart<Awaited<Result>> = { part, followed, startedAt: performance.now() }
    try {
      const result = followed === undefined ? work() : followed.run(work)
      if (!(result instanceof Promise)) return this.#finish(open, result as Awaited<Result>) as Result
      return result.then(
        (settled: Awaited<Result>) => this.#finish(open, settled),
        (thrown: unknown) => this.#fail(open, thrown),
      ) as Result
    } catch (thrown) {
      return this.#fail(open, thrown)
    }
  }

  /** Measures what follows until the answer is over. */
  measureRest(kind: PartKind, spanName: string): void {
    this.telemetry?.begin(kind)
    this.#keep(kind, spanName, performance.now())
  }

  #finish<Result>({ part, followed, startedAt }: OpenPart<Result>, result: Result): Result {
    const { kind, name, spanName, thrownIn } = part
    const shown = spanName === undefined ? name : spanName(result)
    if (shown !== undefined) this.#keep(kind, shown, startedAt, performance.now())
    followed?.end(thrownIn?.(result))
    return result
  }

  #fail({ part: { kind, name }, followed, startedAt }: OpenPart<never>, thrown: unknown): never {
    if (name !== undefined) this.#keep(kind, name, startedAt, performance.now())
    followed?.end([thrown])
    throw thrown
  }

  #keep(kind: PartKind, name: string, startedAt: number, endedAt?: number): void {
    ;(this.#spans ??= []).push({ op: OPERATIONS[kind], name, startedAt, endedAt })
  }
}
