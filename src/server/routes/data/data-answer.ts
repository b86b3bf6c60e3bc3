import {
  BUILD_HEADER,
  ROUTE_DATA_TYPE,
  type RouteDataHead,
  type RouteDataOutcome,
  type RouteDataRedirect,
  type SegmentMeta,
  type SegmentValues,
} from '../../../shared/protocol/route-data.ts'
import type { RejectedValue } from '../../../shared/protocol/hand-off.ts'
import { createRouteDataWriter } from '../../../shared/protocol/encode-route-data.ts'
import { MIN_ENCODED_BYTES, negotiateEncoding } from '../../http/content-encoding.ts'
import type { LoaderTiming } from '../../request/answer/answer-headers.ts'
import { addGivenHeaders, serverTiming, setsCookie, varyOf } from '../../request/answer/answer-headers.ts'
import { cachingOf, ONE_VISITOR, takeRuledCaching } from '../../request/answer/caching.ts'
import { createBodyStream, type BodyStream } from '../../request/answer/body-stream.ts'
import { reportFailure } from '../../request/answer/failure.ts'
import type { HeaderList } from '../../http/header-list.ts'
import { send } from '../../request/answer/send.ts'
import type { RequestContext } from '../../request/context.ts'

/** An answer of route data while it is being made. Its status waits for the first record. */
export interface DataAnswer {
  /** Whether status and head are decided. */
  isOpen(): boolean
  /** Decides status and head. To be called once, before any record. */
  open(status: number, head: Head, headers?: HeaderList): void
  segment(id: string, values: SegmentValues, meta: SegmentMeta): void
  outcome(outcome: RouteDataOutcome): void
  redirect(redirect: RouteDataRedirect): void
  /** No record follows. Settles when every deferred value is out; does not reject. */
  finish(): Promise<void>
  /** Ends the answer without its last line, so that the client takes it for cut off and loads the document. */
  breakOff(): void
}

/** The first line without what is the same for all answers of a server. */
export type Head = Omit<RouteDataHead, 'v' | 'build'>

/** How an answer stands when its headers go out. */
export interface DataProgress {
  /** Loaders that have finished so far. */
  readonly timings: readonly LoaderTiming[]
  /** Whether all loaders have succeeded and nothing is deferred: only then a loader's `Cache-Control` counts. */
  isWhole(): boolean
}

/** Of an answer that no loader has a part in. */
export const NO_PROGRESS: DataProgress = { timings: [], isWhole: () => false }

/**
 * Answers that no page is to be had here, and that the URL is to be loaded as a document.
 * @param headers beyond those of every answer.
 */
export function sendDocumentHead(context: RequestContext, status: number, headers: HeaderList = []): void {
  sendHead(context, status, { document: true }, headers)
}

/** Answers with a head and no records. */
export function sendHead(context: RequestContext, status: number, head: Head, headers: HeaderList = []): void {
  const answer = createDataAnswer(context, NO_PROGRESS)
  answer.open(status, head, headers)
  void answer.finish()
}

/** A target that has passed the guard of locations, in the form of the protocol. */
export function redirectTo(location: string): RouteDataRedirect {
  return location.startsWith('/') ? { to: location } : { to: location, external: true }
}

/** Begins an answer. Lines that come in one turn of the event loop go out together, at its end. */
export function createDataAnswer(context: RequestContext, progress: DataProgress): DataAnswer {
  const { req, res } = context
  const build = context.data?.build ?? ''
  const hasBody = req.method !== 'HEAD'
  const gone = new AbortController()
  let lines = ''
  let opened: { readonly status: number; readonly headers: HeaderList } | undefined
  let body: BodyStream | undefined
  let sentHeaders: string | undefined
  let scheduled: NodeJS.Immediate | undefined
  let over = false

  const writer = createRouteDataWriter(write, gone.signal, (reason): RejectedValue => {
    return { digest: reportFailure(reason, context, 'deferred') }
  })

  function write(line: string): void {
    if (over) return
    lines += line
    scheduled ??= setImmediate(() => flush(false))
  }

  context.onAbort((reason) => {
    if (reason.cause === 'gone') drop()
    // Open values have been rejected by the abort itself, and are written within this turn. What is then still open
    // is no deferred member and listens to nobody.
    else setImmediate(() => setImmediate(() => breakOff()))
  })

  /** Nobody listens any more. */
  function drop(): void {
    if (over) return
    over = true
    clearImmediate(scheduled)
    gone.abort()
    body?.destroy()
  }

  function flush(last: boolean): void {
    clearImmediate(scheduled)
    scheduled = undefined
    if (over || opened === undefined) return
    const text = lines
    lines = ''
    if (last) over = true
    if (body === undefined) {
      sentHeaders = givenText(context)
      if (!hasBody || (last && Buffer.byteLength(text) < MIN_ENCODED_BYTES)) return sendWhole(opened, text)
      body = startBody(opened)
    }
    if (text !== '') body.write(text)
    if (last) body.end()
  }

  function sendWhole({ status, headers }: NonNullable<typeof opened>, text: string): void {
    const all = dataHeaders(status, context, progress).concat(headers)
    if (hasBody) all.push('Content-Length', String(Buffer.byteLength(text)))
    send(context, status, all)
    over = true
    res.end(hasBody ? text : undefined)
    // Values that nobody will read need not be made.
    if (!hasBody) context.abort('gone')
  }

  function startBody({ status, headers }: NonNullable<typeof opened>): BodyStream {
    const encoding = negotiateEncoding(req.headers['accept-encoding'] as string | undefined)
    const all = dataHeaders(status, context, progress).concat(headers)
    if (encoding !== undefined) all.push('Content-Encoding', encoding)
    send(context, status, all)
    return createBodyStream(res, encoding)
  }

  function breakOff(): void {
    if (over) return
    flush(true)
    gone.abort()
  }

  return {
    isOpen: () => opened !== undefined,
    open(status, head, headers = []) {
      opened = { status, headers }
      if (head.redirect !== undefined) context.left = true
      if (hasBody) writer.head({ build, ...head })
    },
    segment(id, values, meta) {
      if (hasBody) writer.segment(id, values, meta)
    },
    outcome(outcome) {
      if (outcome.kind !== 'error') context.left = true
      if (hasBody) writer.outcome(outcome)
    },
    redirect(redirect) {
      context.left = true
      if (hasBody) writer.redirect(redirect)
    },
    async finish() {
      try {
        if (hasBody) await writer.finish()
      } catch (thrown) {
        if (over) return
        reportFailure(thrown, context, 'deferred')
        return breakOff()
      }
      flush(true)
      if (sentHeaders !== undefined && sentHeaders !== givenText(context)) {
        context.log.warn({ route: context.route }, 'a loader has set headers after the answer had begun')
      }
    },
    breakOff,
  }
}

function givenText({ givenHeaders }: RequestContext): string {
  return givenHeaders === undefined ? '' : JSON.stringify([...givenHeaders])
}

function dataHeaders(status: number, context: RequestContext, progress: DataProgress): HeaderList {
  // What a cache has of one build is of no use to pages of another: they would load documents for as long as it is kept.
  const headers = ['Content-Type', ROUTE_DATA_TYPE, 'Cache-Control', dataCaching(status, context, progress)]
  headers.push(
    'Vary',
    `${varyOf(context)}, ${BUILD_HEADER}`,
    'Server-Timing',
    serverTiming(progress.timings, 'head', context),
  )
  addGivenHeaders(headers, context)
  return headers
}

/**
 * A loader's `Cache-Control` speaks for the whole answer. As long as another loader may still refuse, fail, or want it
 * private, nobody may keep it.
 */
function dataCaching(status: number, context: RequestContext, progress: DataProgress): string {
  // A rule or middleware means documents, and does not know what is in here.
  takeRuledCaching(context)
  const wanted = progress.isWhole() ? (context.givenHeaders?.get('cache-control') ?? undefined) : undefined
  return cachingOf({ status, wanted, byDefault: ONE_VISITOR, setsCookie: setsCookie(context) }).value
}
