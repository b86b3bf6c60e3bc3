import { REFUSAL_STATUS } from '../control-flow.ts'
import type { Rejection, ValueDecoder } from './decode-values.ts'
import type { TextStream } from './hand-off.ts'
import {
  ROUTE_DATA_VERSION,
  type RouteDataHead,
  type RouteDataOutcome,
  type RouteDataRedirect,
  type SegmentMeta,
  type SegmentRecord,
  type SegmentValues,
} from './route-data.ts'
import { createTextHash, type TextHash } from './text-hash.ts'

/**
 * What is wrong with an answer: it is of another version of the format; it is not of the format; it ends before its last
 * record; a line of it is longer than `MAX_LINE_LENGTH`.
 */
export type RouteDataFault = 'version' | 'malformed' | 'truncated' | 'oversize'

/** An answer that is not a complete and well-formed one. */
export class RouteDataError extends Error {
  override readonly name = 'RouteDataError'
  readonly kind: RouteDataFault

  constructor(kind: RouteDataFault, cause?: unknown) {
    super(`Route data: ${kind}`, { cause })
    this.kind = kind
  }
}

/** A segment of which all but deferred members is known. */
export interface ReceivedSegment extends SegmentMeta {
  /** `<key>#layout` or `<key>#page`. */
  readonly segment: string
  /**
   * Deferred members are promises. They reject as the server's did (`RejectedValue`), or as `readRouteData` does when
   * the answer breaks off; nobody need listen.
   */
  readonly values: SegmentValues
}

/** The whole content of a segment, deferred members included. */
export interface SegmentContent {
  /** Equal for equal content. */
  readonly hash: number
  /** Characters on the wire. */
  readonly size: number
}

/** Told of what comes, in the order in which it comes. What it throws ends the reading. */
export interface RouteDataSink {
  /** The first call. */
  head(head: RouteDataHead): void
  segment(segment: ReceivedSegment): void
  /** All promises of the segment's values are settled. */
  settled(id: string, content: SegmentContent): void
  outcome(outcome: RouteDataOutcome): void
  /** The target has not been judged here. */
  redirect(redirect: RouteDataRedirect): void
  /** The last record has come; only the end of the text has not. */
  done?(): void
}

const MAX_LINE_LENGTH = 32 * 2 ** 20 // characters; what has no end must not take all memory

type Members = Readonly<Record<string, unknown>>

/**
 * Reads one answer. The text may be cut anywhere.
 * @param rejection as in `createValueDecoder`.
 * @param broken what open promises reject with where the reading fails with an error; that error unless told.
 * @returns resolves when the last record and then the end of the text have come.
 * @throws {RouteDataError} for everything that is not a complete well-formed answer.
 * @throws what the stream fails with, what the sink throws, or what loading the decoder of values fails with. In every
 *   case the stream has been cancelled, and promises in segments that were open have been rejected with the same.
 */
export async function readRouteData(
  stream: TextStream,
  sink: RouteDataSink,
  rejection?: Rejection,
  broken: Rejection = (error) => error,
): Promise<void> {
  const reader = stream.getReader()
  const streams = new Map<unknown, Stream>()
  const segments = new Set<string>()
  let streamCount = 0
  let head: RouteDataHead | undefined
  let complete = false
  let rest = ''

  try {
    for (;;) {
      const { done, value: text = '' } = await reader.read()
      if (done) break
      let start = 0
      for (let end = 0; (end = text.indexOf('\n', start)) >= 0; start = end + 1) {
        const line = bounded(rest + text.slice(start, end))
        rest = ''
        // Awaited only where the decoder must be loaded, so that what came together is delivered together.
        const loading = accept(line)
        if (loading !== undefined) await loading
      }
      rest = bounded(rest + text.slice(start))
    }
    if (!complete) throw new RouteDataError('truncated')
    check(rest === '')
  } catch (error) {
    for (const { decoder } of streams.values()) decoder.fail(broken(error))
    reader.cancel(error).catch(() => undefined)
    // Nothing is missing from an answer whose connection breaks after its last record.
    if (!complete || error instanceof RouteDataError) throw error
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
      // Where an action leads to what is no page here, its answer still says what is to be dropped. Ids of all other
      // segments begin with a slash.
      check(head.route !== undefined || String(record['segment']).startsWith('#'))
      if ('segment' in record) return acceptSegment(record, line)
      const { outcome, redirect } = record
      if (isOutcome(outcome)) sink.outcome(outcome)
      else if (isRedirect(redirect)) sink.redirect(redirect)
      else acceptPart(record, line.length)
    }
    return undefined
  }

  function acceptSegment(record: Members, line: string): Promise<void> | undefined {
    check(isSegment(record) && !segments.has(record.segment))
    const { stream, data, search, ...known } = record
    segments.add(record.segment)
    const hash = createTextHash()
    const size = line.length
    if (stream === undefined) {
      sink.segment({ ...known, values: { data, search } })
      hash.add(line)
      sink.settled(record.segment, { hash: hash.value(), size })
      return undefined
    }
    check(stream === streamCount && data === undefined && search === undefined)
    streamCount += 1
    return import('./decode-values.ts').then(({ createValueDecoder }) => {
      streams.set(stream, { known, decoder: createValueDecoder(rejection), hash, size })
    })
  }

  function acceptPart({ chunk, end, text }: Members, length: number): void {
    const stream = streams.get(chunk ?? end)
    check(stream !== undefined)
    const { known, decoder, hash } = stream
    if (chunk === undefined) {
      malformedUnless(() => decoder.end())
      streams.delete(end)
      sink.settled(known.segment, { hash: hash.value(), size: stream.size })
      return
    }
    check(isText(text))
    stream.size += length
    hash.add(text)
    const root = malformedUnless(() => decoder.push(text))
    if (root === undefined) return
    check(isObject(root.value))
    sink.segment({ ...known, values: root.value })
  }
}

/** A segment that is coming in. */
interface Stream {
  /** What its record said. */
  readonly known: Omit<ReceivedSegment, 'values'>
  readonly decoder: ValueDecoder
  readonly hash: TextHash
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

/** What may be absent, or else passes one of the tests. */
function optional(...tests: readonly Test[]): Test {
  return (value) => value === undefined || tests.some((test) => test(value))
}

/** An object whose members pass the tests of their names. */
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
