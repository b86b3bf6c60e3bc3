import {
  BUILD_HEADER,
  ROUTE_DATA_TYPE,
  type RouteDataHead,
  type RouteDataOutcome,
  type RouteDataRedirect,
  type SegmentMeta,
  type SegmentValues,
} from '../../../shared/protocol/route-data.ts'
import type { RejectedValue } from '../../../shared/protocol/hydration-data.ts'
import {
  createRouteDataWriter,
  routeDataHead,
  type RouteDataWriter,
} from '../../../shared/protocol/encode-route-data.ts'
import { MIN_ENCODED_BYTES } from '../../http/content-encoding.ts'
import { addGivenHeaders, serverTiming, setsCookie, varyOf } from '../../request/answer/answer-headers.ts'
import { cachingOf, isForOne, ONE_VISITOR, takeRuledCaching, type Caching } from '../../request/answer/caching.ts'
import type { BodyStream } from '../../request/answer/body-stream.ts'
import { createBodyStream } from '../../request/answer/create-body-stream.ts'
import { reportFailure } from '../../request/answer/failure.ts'
import type { HeaderList } from '../../http/header-list.ts'
import { send } from '../../request/answer/send.ts'
import { takeStreamEncoding } from '../../request/answer/stream-encoding.ts'
import type { RequestContext } from '../../request/context.ts'

/** The first line without the members that all answers of a server share. */
export type Head = Omit<RouteDataHead, 'v' | 'build' | 'sessions' | 'left' | 'others'>

/**
 * Tells the client to load the URL as a document.
 * @param headers besides those of every answer.
 */
export function sendDocumentHead(context: RequestContext, status: number, headers: HeaderList = []): void {
  sendHead(context, status, { document: true }, headers)
}

/** Answers with a head and no records. */
export function sendHead(context: RequestContext, status: number, head: Head, headers: HeaderList = []): void {
  const answer = new DataAnswer(context)
  answer.open(status, head, headers)
  void answer.finish()
}

interface Opening {
  readonly status: number
  /** The first line without sessions. */
  readonly head: Omit<RouteDataHead, 'v' | 'sessions' | 'left' | 'others'>
  readonly headers: HeaderList
}

/**
 * An answer of route data in progress. Its status waits for the first record. The lines of one turn of the event loop are
 * sent together, at its end.
 */
export class DataAnswer {
  readonly #context: RequestContext
  readonly #isWhole: () => boolean
  readonly #whenOpen: ((answer: DataAnswer) => void) | undefined
  readonly #hasBody: boolean
  readonly #gone = new AbortController()
  readonly #writer: RouteDataWriter
  #lines = ''
  #opened: Opening | undefined = undefined
  #body: BodyStream | undefined = undefined
  #scheduled: NodeJS.Immediate | undefined = undefined
  #over = false
  /** The sessions that the head names to the browser; `undefined` before the head is sent, and if it names none. */
  #told: string | undefined = undefined

  /**
   * @param isWhole whether all loaders have succeeded and nothing is deferred, when the headers are sent: only then does a
   * loader's `Cache-Control` count. Default: never, for an answer without loaders.
   * @param whenOpen writes the lines after the head, whoever opens the answer.
   */
  constructor(context: RequestContext, isWhole = () => false, whenOpen?: (answer: DataAnswer) => void) {
    this.#context = context
    this.#isWhole = isWhole
    this.#whenOpen = whenOpen
    this.#hasBody = context.req.method !== 'HEAD'
    this.#writer = createRouteDataWriter(
      (line) => this.#write(line),
      this.#gone.signal,
      (reason): RejectedValue => ({ digest: reportFailure(reason, context, 'deferred') }),
    )
    context.onAbort((reason) => this.#abort(reason.cause))
  }

  /** Whether status and head are decided. */
  isOpen(): boolean {
    return this.#opened !== undefined
  }

  /** Decides status and head. Call it once, before any record. */
  open(status: number, head: Head, headers: HeaderList = []): void {
    if (head.redirect !== undefined) this.#context.record.untraced = true
    const { data, readAt: at } = this.#context
    const isData = head.route !== undefined
    const own = { build: data?.build ?? '', ...(isData && at !== undefined && { at }) }
    this.#opened = { status, headers, head: { ...own, ...head } }
    if (this.#hasBody) this.#write('')
    if (isData && this.#hasBody) this.#tellLateSessions()
    this.#whenOpen?.(this)
  }

  /** A session that is opened later must be known before anything is that was made for it. */
  #tellLateSessions(): void {
    const sessions = this.#context.audience.openSessions()
    // Named before it is assigned: written in place, it would keep the request alive for long (docs/decisions/0028).
    const onNote = (): void => {
      const { marks } = sessions
      if (this.#told !== undefined && marks !== this.#told) this.#writer.sessions((this.#told = marks))
    }
    sessions.onNote = onNote
  }

  segment(id: string, values: SegmentValues, meta: SegmentMeta, isUntold?: () => boolean): void {
    if (this.#hasBody) this.#writer.segment(id, values, meta, isUntold)
  }

  outcome(outcome: RouteDataOutcome): void {
    if (outcome.kind !== 'error') this.#context.record.untraced = true
    if (this.#hasBody) this.#writer.outcome(outcome)
  }

  redirect(redirect: RouteDataRedirect): void {
    this.#context.record.untraced = true
    if (this.#hasBody) this.#writer.redirect(redirect)
  }

  /** No more records follow. Settles when all deferred values are sent; does not reject. */
  async finish(): Promise<void> {
    const context = this.#context
    try {
      if (this.#hasBody) await this.#writer.finish()
    } catch (thrown) {
      if (this.#over) return
      reportFailure(thrown, context, 'deferred')
      return this.breakOff()
    }
    this.#flush(true)
  }

  /** Ends the answer without its last line, so that the client treats it as cut off and loads the document. */
  breakOff(): void {
    if (this.#over) return
    this.#flush(true)
    this.#gone.abort()
  }

  #abort(cause: 'gone' | 'timeout'): void {
    if (cause === 'gone') return this.#drop()
    // The abort has rejected open values, and they are written within this turn. Values that are still open are not
    // deferred members, and nobody listens to them.
    setImmediate(() => setImmediate(() => this.breakOff()))
  }

  #write(line: string): void {
    if (this.#over) return
    this.#lines += line
    this.#scheduled ??= setImmediate(() => this.#flush(false))
  }

  #drop(): void {
    if (this.#over) return
    this.#over = true
    clearImmediate(this.#scheduled)
    this.#gone.abort()
    this.#body?.destroy()
  }

  #flush(last: boolean): void {
    clearImmediate(this.#scheduled)
    this.#scheduled = undefined
    if (this.#over || this.#opened === undefined) return
    try {
      this.#send(this.#opened, last)
    } catch (thrown) {
      this.#over = true
      this.#gone.abort()
      reportFailure(thrown, this.#context, 'loader')
      sendDocumentHead(this.#context, 500)
    }
  }

  /** @throws {HeadSizeError} */
  #send(opened: Opening, last: boolean): void {
    let text = this.#lines
    this.#lines = ''
    if (last) this.#over = true
    if (this.#body === undefined) {
      const caching = dataCaching(opened.status, this.#context, this.#isWhole)
      text = this.#firstLine(opened, caching) + text
      const isSmall = last && Buffer.byteLength(text) < MIN_ENCODED_BYTES
      if (!this.#hasBody || isSmall) return this.#sendWhole(opened, caching, text)
      this.#body = this.#startBody(opened, caching)
    }
    if (text !== '') this.#body.write(text)
    if (!last) return
    this.#body.end()
    this.#body.tellUnread(this.#context.place.noteUnread)
  }

  /** Without sessions in an answer that caches give to others: a copy would end the sessions in their tabs. */
  #firstLine({ head }: Opening, { shared }: Caching): string {
    if (shared) return routeDataHead(head)
    const { marks = '', hasLeft = false, isOthers = false } = this.#context.audience.sessions ?? {}
    this.#told = marks
    const news = { ...(hasLeft && { left: true as const }), ...(isOthers && { others: true as const }) }
    return routeDataHead({ ...head, ...(marks !== '' && { sessions: marks }), ...news })
  }

  #sendWhole({ status, headers }: Opening, caching: Caching, text: string): void {
    const context = this.#context
    const all = dataHeaders(context, caching).concat(headers)
    if (this.#hasBody) all.push('Content-Length', String(Buffer.byteLength(text)))
    send(context, status, all)
    this.#over = true
    context.res.end(this.#hasBody ? text : undefined)
    context.place.noteUnread?.(context.res.writableLength)
    // Nobody will read the values, so they need not be made.
    if (!this.#hasBody) context.abort('gone')
  }

  #startBody({ status, headers }: Opening, caching: Caching): BodyStream {
    const encoding = takeStreamEncoding(this.#context)
    const all = dataHeaders(this.#context, caching).concat(headers)
    if (encoding !== undefined) all.push('Content-Encoding', encoding.encoding)
    send(this.#context, status, all)
    return createBodyStream(this.#context.res, encoding)
  }
}

function dataHeaders(context: RequestContext, { value }: Caching): HeaderList {
  // A cached answer of one build is useless to pages of another: they would load documents while it is cached.
  const headers = ['Content-Type', ROUTE_DATA_TYPE, 'Cache-Control', value]
  headers.push('Vary', `${varyOf(context, value)}, ${BUILD_HEADER}`, 'Server-Timing', serverTiming('head', context))
  addGivenHeaders(headers, context)
  return headers
}

/**
 * A loader's `Cache-Control` applies to the whole answer. While another loader may still refuse, fail, or want it
 * private, nobody may cache it.
 */
function dataCaching(status: number, context: RequestContext, isWhole: () => boolean): Caching {
  // Rules and middleware mean documents, and do not know the content of this answer.
  takeRuledCaching(context)
  const given = context.req.method === 'POST' ? undefined : (context.givenHeaders?.get('cache-control') ?? undefined)
  const wanted = given !== undefined && isWhole() ? given : undefined
  const guarded = isForOne(context.audience, context.givenHeaders?.get('vary'))
  return cachingOf({ status, wanted, byDefault: ONE_VISITOR, setsCookie: setsCookie(context), guarded })
}
