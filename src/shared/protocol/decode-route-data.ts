import { REFUSAL_STATUS } from '../control-flow.ts'
import type { Rejection, ValueDecoder } from './decode-values.ts'
import type { TextStream } from './hydration-data.ts'
import {
  ROUTE_DATA_VERSION,
  type RouteDataHead,
  type RouteDataOutcome,
  type RouteDataRedirect,
  type SegmentMeta,
  type SegmentRecord,
  type SegmentValues,
} from './route-data.ts'

/** `truncated`: ends before its last record. `oversize`: a line is longer than `MAX_LINE_LENGTH`. */
type RouteDataFault = 'version' | 'malformed' | 'truncated' | 'oversize'

/** An answer that is incomplete or malformed. */
export class RouteDataError extends Error {
  override readonly name = 'RouteDataError'
  readonly kind: RouteDataFault

  constructor(kind: RouteDataFault, cause?: unknown) {
    super(`Route data: ${kind}`, { cause })
    this.kind = kind
  }
}

/** A segment that has arrived except for its deferred members. */
export interface ReceivedSegment extends SegmentMeta {
  /** `<key>#layout` or `<key>#page`. */
  readonly segment: string
  /**
   * Deferred members are promises. They reject like the server's (`RejectedValue`), or like `readRouteData` if the
   * answer is cut off; unused rejections are handled.
   */
  readonly values: SegmentValues
}

/** Facts of a whole segment, deferred members included. */
export interface SegmentContent {
  /** All of its text: equal for equal content. A hash would let a visitor's text hide a change beside it. */
  readonly content: string
  /** Characters on the wire. */
  readonly size: number
  /** In place of the segment's: the data must not be cached. */
  readonly lifetime?: 0
}

/** Receives the records in order. An error that it throws ends the reading. */
export interface RouteDataSink {
  /** The first call; again when more is known of the sessions. @returns then, when to read on. */
  head(head: RouteDataHead): Promise<void> | undefined
  segment(segment: ReceivedSegment): void
  /** All promises of the segment's values are settled. */
  settled(id: string, content: SegmentContent): void
  outcome(outcome: RouteDataOutcome): void
  /** The target is not checked here. */
  redirect(redirect: RouteDataRedirect): void
  /** Called at the last record, before the end of the text. */
  done?(): void
}

const MAX_LINE_LENGTH = 32 * 2 ** 20 // characters; an endless line must not fill the memory

type Members = Readonly<Record<string, unknown>>

/**
 * Reads one answer, whose text may be split anywhere.
 * @param rejection as in `createValueDecoder`.
 * @param broken converts the error that ends the reading to the reason of open promises; default: that error.
 * @returns resolves at the end of the text, after the last record.
 * @throws {RouteDataError} for an incomplete or malformed answer.
 * @throws errors of the stream, of the sink, and of loading the decoder. In every case the stream is cancelled and open
 * promises in segments are rejected.
 */
export async function readRouteData(
  stream: TextStream,
  sink: RouteDataSink,
  rejection?: Rejection,
  broken: Rejection = (error) => error,
): Promise<void> {
  const reader = stream.getReader()
  const records = createRecordReader(sink, rejection)
  let rest = ''

  try {
    for (;;) {
      const { done, value: text = '' } = await reader.read()
      if (done) break
      let start = 0
      for (let end = 0; (end = text.indexOf('\n', start)) >= 0; start = end + 1) {
        const line = bounded(rest + text.slice(start, end))
        rest = ''
        // Awaited only for a reason, so that records of one chunk are delivered together.
        const loading = records.accept(line)
        if (loading !== undefined) await loading
      }
      rest = bounded(rest + text.slice(start))
    }
    if (!records.complete()) throw new RouteDataError('truncated')
    check(rest === '')
  } catch (error) {
    records.fail(broken(error))
    reader.cancel(error).catch(() => undefined)
    // An answer whose connection breaks after its last record is complete.
    if (!records.complete() || error instanceof RouteDataError) throw error
  }
}

/** Reads the records of one answer. */
interface RecordReader {
  /** @returns a promise only if the decoder of values must be loaded, or the sink be ready, before the next line. */
  accept(line: string): Promise<void> | undefined
  /** Whether the last record has arrived. */
  complete(): boolean
  /** Rejects the promises of open segments. */
  fail(reason: unknown): void
}

function createRecordReader(sink: RouteDataSink, rejection: Rejection | undefined): RecordReader {
  const streams = new Map<unknown, Stream>()
  const segments = new Set<string>()
  let streamCount = 0
  let head: RouteDataHead | undefined
  let complete = false

  function acceptSegment(record: Members, line: string): Promise<void> | undefined {
    check(isSegment(record) && !segments.has(record.segment))
    const { stream, data, search, ...known } = record
    segments.add(record.segment)
    const size = line.length
    if (stream === undefined) {
      sink.segment({ ...known, values: { data, search } })
      sink.settled(record.segment, { content: line, size })
      return undefined
    }
    check(stream === streamCount && data === undefined && search === undefined)
    streamCount += 1
    return import('./decode-values.ts').then(({ createValueDecoder }) => {
      const texts: string[] = []
      streams.set(stream, {
        known,
        decoder: createValueDecoder(rejection, (at) => texts[+at]),
        content: '',
        size,
        texts,
      })
    })
  }

  function acceptPart({ chunk, end, text, mark, html, ...facts }: Members, length: number): void {
    const stream = streams.get(chunk ?? end)
    check(stream !== undefined)
    const { known, decoder, texts } = stream
    if (chunk === undefined) {
      malformedUnless(() => decoder.end())
      streams.delete(end)
      return sink.settled(known.segment, { ...facts, content: stream.content, size: stream.size })
    }
    stream.size += length
    if (isText(html)) {
      stream.content += html
      return check(mark === texts.push(html) - 1)
    }
    check(isText(text))
    stream.content += text
    const root = malformedUnless(() => decoder.push(text))
    if (root === undefined) return
    check(isObject(root.value))
    sink.segment({ ...known, values: root.value })
  }

  function accept(line: string): Promise<void> | undefined {
    const record = malformedUnless(() => JSON.parse(line) as unknown)
    check(isObject(record) && !complete)
    if (head === undefined) {
      if (record['v'] !== ROUTE_DATA_VERSION) throw new RouteDataError('version')
      check(isHead(record))
      const { route, redirect, document } = record
      check(isStated(document) !== (isStated(route) || isStated(redirect)))
      sink.head((head = record))
    } else if ('done' in record) {
      check(isTrue(record['done']) && streams.size === 0)
      complete = true
      sink.done?.()
    } else {
      // An action may redirect to something other than a page. Its own segment, with the targets to drop, then has the
      // only id that does not begin with a slash.
      check(head.route !== undefined || String(record['segment']).startsWith('#'))
      if ('segment' in record) return acceptSegment(record, line)
      const { outcome, redirect, sessions } = record
      if (isText(sessions)) return sink.head((head = { ...head, sessions }))
      if (isOutcome(outcome)) sink.outcome(outcome)
      else if (isRedirect(redirect)) sink.redirect(redirect)
      else acceptPart(record, line.length)
    }
    return undefined
  }

  return {
    accept,
    complete: () => complete,
    fail(reason) {
      for (const { decoder } of streams.values()) decoder.fail(reason)
    },
  }
}

/** A segment whose values are still arriving. */
interface Stream {
  /** From its record. */
  readonly known: Omit<ReceivedSegment, 'values'>
  readonly decoder: ValueDecoder
  /** So far, as in `SegmentContent`. */
  content: string
  /** Of HTML, by mark. */
  readonly texts: string[]
  /** Characters so far. */
  size: number
}

type Test = (value: unknown) => boolean

const isText = (value: unknown): value is string => typeof value === 'string'
const isStated: Test = (value) => value !== undefined
const isTrue: Test = (value) => value === true
const isTextList: Test = (value) => Array.isArray(value) && value.every(isText)
const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Accepts an absent value, or one that one of the tests accepts. */
function optional(...tests: readonly Test[]): Test {
  return (value) => value === undefined || tests.some((test) => test(value))
}

/** Accepts an object whose members are accepted by the tests of their names. */
function objectWith<Type>(tests: Readonly<Record<string, Test>>): (value: unknown) => value is Type {
  return (value): value is Type => isObject(value) && Object.keys(tests).every((name) => tests[name]?.(value[name]))
}

const isRedirect = objectWith<RouteDataRedirect>({ to: isText, external: optional(isTrue) })

const isOutcome = objectWith<RouteDataOutcome>({
  kind: (kind) => kind === 'error' || (isText(kind) && Object.hasOwn(REFUSAL_STATUS, kind)),
  at: (at) => Number.isInteger(at) && (at as number) >= 0,
  digest: optional(isText),
})

const isSegment = objectWith<SegmentRecord>({
  segment: isText,
  uses: optional(isTrue, isTextList),
  lifetime: optional((lifetime) => (lifetime as number) >= 0 && typeof lifetime === 'number'),
  tags: optional(isTextList),
})

const isHead = objectWith<RouteDataHead>({
  build: isText,
  route: optional((route) => route === null, isText),
  params: optional((params) => isObject(params) && Object.values(params).every(optional(isText, isTextList))),
  scope: optional((scope) => scope === 'path' || scope === 'url'),
  redirect: optional(isRedirect),
  document: optional(isTrue),
})

function check(condition: boolean): asserts condition {
  if (!condition) throw new RouteDataError('malformed')
}

function malformedUnless<Value>(attempt: () => Value): Value {
  try {
    return attempt()
  } catch (thrown) {
    throw new RouteDataError('malformed', thrown)
  }
}

function bounded(line: string): string {
  if (line.length > MAX_LINE_LENGTH) throw new RouteDataError('oversize')
  return line
}
