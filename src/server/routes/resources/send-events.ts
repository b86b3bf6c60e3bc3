/**
 * Event streams of handlers, written straight to the connection: only its own queue holds bytes.
 *
 * | what ends a stream                              | how                                                       |
 * |-------------------------------------------------|-----------------------------------------------------------|
 * | the client disconnects                          | nothing is sent                                           |
 * | more than `bufferBytes` wait for the reader     | the connection is reset, so that the queue is dropped     |
 * | `end()`, half an hour, the server stops, a failure | the answer ends with the time after which to connect again |
 * | a session ends that the request has opened      | as above; see `session-watch.ts`                          |
 *
 * Bounds: three quarters of the places of resource routes, so that streams leave room for other requests, and of these
 * one client's share (`http/shares.ts`).
 */
import {
  eventText,
  isEventId,
  type DeclaredEvents,
  type EventStream,
  type ServerEvent,
} from '../../api/event-stream.ts'
import { clientKey } from '../../http/client-key.ts'
import type { HeaderList } from '../../http/header-list.ts'
import type { Shares } from '../../http/shares.ts'
import { addGivenHeaders } from '../../request/answer/answer-headers.ts'
import { reportFailure } from '../../request/answer/failure.ts'
import { normalizeThrown } from '../../request/answer/normalize-thrown.ts'
import { send } from '../../request/answer/send.ts'
import type { RequestContext } from '../../request/context.ts'
import { SESSIONS_EVENT } from '../../../shared/protocol/session-marks.ts'
import type { SessionLife } from '../../secrets/session-life.ts'
import type { DropEvent, DropTopics } from './drop-topics.ts'
import { sendFault } from './send-fault.ts'
import type { SessionWatch } from './session-watch.ts'

const RETRY_SECONDS = 5
const LIFETIME_MS = 1_800_000 // so that connections spread over new instances, and forgotten ones go
const LEAST_RETRY_MS = 1_000
const RETRY_SPREAD_MS = 4_000 // the browsers of a server that stops must not all return at once
const FAILED_RETRY_MS = 10_000

/** What all event streams share. */
export interface EventStreamParts {
  readonly places: Shares
  readonly topics: DropTopics
  readonly sessions: SessionWatch
}

/** Answers with an event stream, if its client may have one more. */
export function sendEvents(
  declared: DeclaredEvents,
  response: Response,
  context: RequestContext,
  parts: EventStreamParts,
): void {
  const { places } = parts
  const { req, res } = context
  const client = clientKey(context.clientAddress.address)
  const refusal = places.take(client)
  if (refusal !== undefined) {
    context.record.refused = refusal === 'client' ? 'too many event streams for one client' : 'too many event streams'
    return sendFault(context, { status: 503, text: 'Too busy' }, ['Retry-After', String(RETRY_SECONDS)])
  }
  context.onFinish(() => places.give(client))
  // Proxies and compressors tend to buffer: nginx asks for the last one.
  const headers: HeaderList = ['Content-Type', 'text/event-stream', 'Cache-Control', 'no-store']
  headers.push('X-Accel-Buffering', 'no')
  for (const [name, value] of response.headers) if (!OWN_HEADERS.has(name)) headers.push(name, value)
  addGivenHeaders(headers, context)
  send(context, 200, headers)
  if (req.method === 'HEAD') return void res.end()
  res.flushHeaders()
  new OpenStream(declared, context, parts).open(client)
}

type Cleanup = () => unknown

const OWN_HEADERS = new Set(['content-type', 'cache-control', 'content-length', 'content-encoding', 'connection'])

/** One open stream. Its functions are bound, because applications take them out of the object. */
class OpenStream {
  readonly #declared: DeclaredEvents
  readonly #context: RequestContext
  readonly #parts: EventStreamParts
  readonly #ended = new AbortController()
  /** Sessions with which the stream ends. */
  readonly #lives = new Set<SessionLife>()
  /** The users of whom the browser knows that this stream is theirs. */
  #marks = ''
  /** What to undo at the end. */
  #cleanups: Cleanup[] = []
  /** Whether nothing was sent since the last heartbeat. */
  #isSilent = false

  constructor(declared: DeclaredEvents, context: RequestContext, parts: EventStreamParts) {
    this.#declared = declared
    this.#parts = parts
    this.#context = context
  }

  open(client: string): void {
    const { heartbeatSeconds, revalidate } = this.#declared
    const { res, services } = this.#context
    const beat = setInterval(() => this.#beat(), heartbeatSeconds * 1_000)
    const lifetime = setTimeout(() => this.#end(retryLater()), LIFETIME_MS)
    this.#cleanups.push(
      () => clearInterval(beat),
      () => clearTimeout(lifetime),
    )
    this.#context.onFinish(() => this.#stop())
    this.#cleanups.push(services.onDraining(() => this.#end(retryLater())))
    this.#context.audience.openSessions().onNote = () => this.#followSessions()
    this.#followSessions()
    if (revalidate.length > 0) {
      const { opening, leave } = this.#parts.topics.join(revalidate, client, (event) => this.#tellDropped(event))
      this.#cleanups.push(leave)
      res.write(opening)
    }
    if (!this.#ended.signal.aborted) void this.#run()
  }

  async #run(): Promise<void> {
    const stream: EventStream = {
      lastEventId: lastEventIdOf(this.#context),
      signal: this.#ended.signal,
      send: (event) => this.#send(event),
      end: () => this.#end(retryLater()),
    }
    try {
      const cleanup = await this.#declared.start(stream)
      if (typeof cleanup !== 'function') return
      if (this.#ended.signal.aborted) void this.#undo(cleanup)
      else this.#cleanups.push(cleanup)
    } catch (thrown) {
      this.#fail(thrown)
    }
  }

  /** Also those that the handler opens while it sends. */
  #followSessions(): void {
    for (const life of this.#context.audience.sessions?.lives ?? []) {
      if (this.#lives.has(life) || this.#ended.signal.aborted) continue
      this.#lives.add(life)
      this.#cleanups.push(this.#parts.sessions.follow(life, () => this.#end(retryLater())))
    }
    this.#tellUsers()
  }

  /** The page may be that of a former user: browsers connect again with the cookies of whoever is there then. */
  #tellUsers(): void {
    const marks = this.#context.audience.sessions?.marksOfUsers ?? ''
    if (marks === this.#marks || this.#ended.signal.aborted) return
    this.#marks = marks
    this.#context.res.write(`event: ${SESSIONS_EVENT}\ndata: ${JSON.stringify(marks)}\n\n`)
  }

  /** Does not throw: its caller is a timer or another visitor's request, and the text may be a visitor's. */
  #send(event: ServerEvent): boolean {
    if (this.#ended.signal.aborted) return false
    try {
      const text = eventText(event)
      return this.#write(text, this.#sizeOf(text))
    } catch (thrown) {
      this.#report(thrown)
      return true
    }
  }

  /** @throws {RangeError} for an event that cannot wait for a reader. */
  #sizeOf(text: string): number {
    const bytes = Buffer.byteLength(text)
    const { bufferBytes } = this.#declared
    if (bytes <= bufferBytes) return bytes
    throw new RangeError(`eventStream: an event of ${bytes} bytes, and bufferBytes ${bufferBytes}`)
  }

  #write(text: string | Buffer, bytes: number): boolean {
    const {
      res,
      log,
      record: { route },
    } = this.#context
    if (this.#ended.signal.aborted) return false
    if (res.writableLength + bytes > this.#declared.bufferBytes) {
      log.info({ route }, 'an event stream has ended, because its reader does not keep up')
      this.#stop()
      res.destroy()
      return false
    }
    this.#isSilent = false
    res.write(text)
    return true
  }

  #beat(): void {
    if (this.#isSilent) this.#write(':\n\n', 3)
    this.#isSilent = true
  }

  #tellDropped({ bytes, ownBytes }: DropEvent): void {
    const { bufferBytes } = this.#declared
    if (ownBytes > bufferBytes) {
      const message = `eventStream: an event of ${ownBytes} bytes, and bufferBytes ${bufferBytes}`
      return this.#fail(new RangeError(message)) // the request that drops them is another visitor's
    }
    this.#write(bytes, ownBytes)
  }

  #fail(thrown: unknown): void {
    this.#report(thrown)
    this.#end(FAILED_RETRY_MS)
  }

  #report(thrown: unknown): void {
    reportFailure(normalizeThrown(thrown), this.#context, 'handler')
  }

  #end(retryMs: number): void {
    if (this.#ended.signal.aborted) return
    this.#stop()
    this.#context.res.end(`retry: ${retryMs}\n\n`)
  }

  #stop(): void {
    if (this.#ended.signal.aborted) return
    this.#ended.abort()
    const cleanups = this.#cleanups
    this.#cleanups = []
    for (const cleanup of cleanups) void this.#undo(cleanup)
  }

  /** Does not reject: no caller waits, and a visitor who leaves would end the process. */
  async #undo(cleanup: Cleanup): Promise<void> {
    try {
      await cleanup()
    } catch (thrown) {
      this.#report(thrown)
    }
  }
}

function retryLater(): number {
  return LEAST_RETRY_MS + Math.round(Math.random() * RETRY_SPREAD_MS)
}

/** `EventSource` sends the header when it connects again by itself, `useEvents` the parameter. */
function lastEventIdOf({ req, search }: RequestContext): string | undefined {
  const header = req.headers['last-event-id']
  const id = typeof header === 'string' ? header : new URLSearchParams(search).get('lastEventId')
  return id !== null && isEventId(id) ? id : undefined
}
