import { declaredEvents } from '../../api/event-stream.ts'
import { namedFile } from '../../api/send-file.ts'
import { dropBody, outlastsAnswer } from '../../http/body/drop-body.ts'
import { valueIndex, type HeaderList } from '../../http/header-list.ts'
import { essenceOf } from '../../http/media-type.ts'
import { addGivenHeaders } from '../../request/answer/answer-headers.ts'
import type { BodyStream } from '../../request/answer/body-stream.ts'
import { createBodyStream } from '../../request/answer/create-body-stream.ts'
import { reportFailure } from '../../request/answer/failure.ts'
import { send } from '../../request/answer/send.ts'
import { takeStreamEncoding } from '../../request/answer/stream-encoding.ts'
import type { RequestContext } from '../../request/context.ts'
import type { UnreadAnswers } from '../../request/admission/unread-answers.ts'
import { resourceCaching } from './resource-caching.ts'
import { sendEvents, type EventStreamParts } from './send-events.ts'
import { sendNamedFile } from './send-named-file.ts'
import { readStoppable, type StoppableBody } from './stoppable-body.ts'

/** Compresses text; not event streams, because proxies and compressors tend to buffer them. */
const COMPRESSIBLE = /^(?:text\/(?!event-stream)|application\/(?:[\w.+-]*json|[\w.+-]*xml|javascript)|image\/svg)/i

/** What answers of resource routes share. */
interface ResponseParts {
  readonly eventStreams: EventStreamParts
  readonly unread: UnreadAnswers
}

/** Sends a web `Response` with backpressure; cancels its body when the client disconnects. */
export async function sendResponse(
  response: Response,
  context: RequestContext,
  { eventStreams, unread }: ResponseParts,
): Promise<void> {
  const { req, res } = context
  const file = namedFile(response)
  if (file !== undefined) return sendNamedFile(file, response, context)
  const events = declaredEvents(response)
  if (events !== undefined) return sendEvents(events, response, context, eventStreams)
  const headers: HeaderList = []
  const bodiless = req.method === 'HEAD' || response.body === null || NO_BODY.has(response.status)
  const isDecoded = isDecodedByFetch(response)
  // Clients would take what follows for the next answer.
  const isOtherLength = isDecoded || (bodiless && req.method !== 'HEAD' && response.status !== 304)
  for (const [name, value] of response.headers) {
    if (CONNECTION_HEADERS.has(name) || name === 'cache-control' || name === 'vary') continue
    if ((isOtherLength && name === 'content-length') || (isDecoded && name === 'content-encoding')) continue
    headers.push(name, name === 'content-type' ? oneType(value) : value)
  }
  const compressible =
    COMPRESSIBLE.test(response.headers.get('content-type') ?? '') &&
    (isDecoded || !response.headers.has('content-encoding')) &&
    !/\bno-transform\b/i.test(response.headers.get('cache-control') ?? '')
  const encoding = compressible ? takeStreamEncoding(context) : undefined
  if (encoding !== undefined) {
    headers.push('Content-Encoding', encoding.encoding)
    dropHeader(headers, 'content-length')
  }
  headers.push(...resourceCaching(response, context, compressible ? 'Accept-Encoding' : ''))
  addGivenHeaders(headers, context)
  // The handler may still read the body, or never: after the answer it would be too late to set this.
  if (outlastsAnswer(req)) res.shouldKeepAlive = false
  send(context, response.status, headers)
  if (bodiless || response.body === null) {
    await response.body?.cancel()
    if (!req.complete) dropBody(req, res)
    res.end()
    return
  }
  // Headers of an event stream must not wait for its first event.
  res.flushHeaders()
  // Node then throws if the length of the body differs from what the handler says, which ends the connection.
  res.strictContentLength = true
  const reader = readStoppable(response.body)
  // Event streams never end by themselves, and browsers reconnect automatically.
  const isEndless = /^text\/event-stream/i.test(response.headers.get('content-type') ?? '')
  const forget = isEndless ? context.services.onDraining(() => void reader.stop().catch(() => undefined)) : undefined
  const body = createBodyStream(res, encoding)
  body.tellUnread((bytes) => unread.note(context, bytes))
  await pump(reader, body, context, isEndless)
  forget?.()
}

/** Whether `fetch` has decoded the body; it leaves the headers as they were. */
function isDecodedByFetch({ url, body, headers }: Response): boolean {
  return url !== '' && body !== null && DECODED.test(headers.get('content-encoding') ?? '')
}

const DECODED = /^(?:x-gzip|gzip|deflate|br)$/i
const NO_BODY = new Set([204, 205, 304])
const CONNECTION_HEADERS = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'trailer'])

/** The type of a `Blob` may be a visitor's text. Of two types with a comma between them, browsers take the last. */
function oneType(mediaType: string): string {
  return mediaType.includes(',') && essenceOf(mediaType) === undefined ? 'application/octet-stream' : mediaType
}

function dropHeader(headers: HeaderList, name: string): void {
  const at = valueIndex(headers, name)
  if (at !== -1) headers.splice(at - 1, 2)
}

async function pump(
  reader: StoppableBody,
  body: BodyStream,
  context: RequestContext,
  isEndless: boolean,
): Promise<void> {
  let wake: (() => void) | undefined
  body.onDrain(() => wake?.())
  context.onAbort(() => {
    const stopped = reader.stop(context.aborted)
    stopped.catch(() => undefined)
    // A generator makes its next piece to the end. That of an event stream may wait for an event that never comes.
    if (!isEndless) context.work.until(stopped)
    wake?.()
  })
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (context.aborted !== undefined) return body.destroy()
      if (done) {
        context.audience.sharedBy = undefined
        if (!context.req.complete) dropBody(context.req, context.res)
        return body.end()
      }
      body.write(Buffer.from(value.buffer, value.byteOffset, value.byteLength))
      if (body.hasCapacity()) continue
      await new Promise<void>((resolve) => (wake = resolve))
    }
  } catch (thrown) {
    reportFailure(thrown, context, 'handler')
    body.destroy()
  }
}
