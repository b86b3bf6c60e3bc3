import { withBasePath } from '../../../shared/base-path.ts'
import { escapeHtml } from '../../../shared/escape-html.ts'
import type { PageTexts } from '../../../shared/texts.ts'
import { createBodyStream } from '../../request/answer/create-body-stream.ts'
import { titleOf } from '../../request/answer/constant-page.ts'
import { reportFailure } from '../../request/answer/failure.ts'
import { judgeThrown, type JudgedThrown } from '../../request/answer/judge-thrown.ts'
import { send } from '../../request/answer/send.ts'
import { takeStreamEncoding } from '../../request/answer/stream-encoding.ts'
import { fill, textsOf } from '../../request/answer/texts.ts'
import type { RequestContext } from '../../request/context.ts'
import { jsonLdTags } from './compose-document.ts'
import { DocumentSink } from './document-sink.ts'
import { holeStyles } from './hole-styles.ts'
import type { HydrationData } from './hydration-data-writer.ts'
import type { LiveStream } from './render-attempt.ts'
import { documentHeaders, ofOneVisitor, takeCaching, type DocumentParts } from './send-document.ts'

/** Sends a document with pending boundaries, each as it completes. */
export function sendStream(live: LiveStream, parts: DocumentParts, context: RequestContext): void {
  const { assets, hydrationData, inserted, metadata } = parts
  const { nonce, req, res } = context
  const encoding = takeStreamEncoding(context)
  // It contains inline scripts and so a nonce.
  const caching = ofOneVisitor(takeCaching(parts, context), context)
  const headers = documentHeaders(parts, context, nonce, caching)
  if (encoding !== undefined) headers.push('Content-Encoding', encoding.encoding)
  const jsonLd = jsonLdTags(metadata)
  send(context, parts.status, headers)
  if (req.method === 'HEAD') {
    res.end()
    context.abort('gone')
    return
  }
  const body = createBodyStream(res, encoding)
  const { element, start } = hydrationData
  const sink = new DocumentSink(
    body,
    {
      head: assets.head(nonce, hydrationData.start !== undefined, holeStyles(nonce, textsOf(context))) + jsonLd,
      tail(shell) {
        startValues(start, sink, context, () => shell.toString('latin1'))
        return element + assets.bootstrap(nonce)
      },
      before: inserted.take,
      ended: () => body.tellUnread(context.place.noteUnread),
    },
    start !== undefined,
  )
  followStream(live, sink, context)
}

/** Sends values that JSON cannot represent. @param shell the markup before them. */
export function startValues(
  start: HydrationData['start'],
  sink: DocumentSink,
  context: RequestContext,
  shell = () => '',
): void {
  start?.((script) => sink.add(script), shell())
    .catch((thrown: unknown) => reportFailure(context.aborted ?? thrown, context, 'deferred'))
    .finally(() => sink.endAdding())
}

/** Sends what React renders into a document that has begun. */
export function followStream(live: LiveStream | undefined, sink: DocumentSink, context: RequestContext): void {
  const texts = textsOf(context)
  // Named before it is assigned: written in place, it would keep the request alive for long (docs/decisions/0028).
  const tellLate = (thrown: unknown): string | undefined => {
    const judged = judgeThrown(thrown)
    if (judged.kind !== 'failure') context.record.untraced = true
    if (context.aborted?.cause !== 'gone')
      context.record.late ??= judged.kind === 'refusal' ? judged.refusal : judged.kind
    const digest = reportFailure(thrown, context, 'stream')
    sink.add(lateOutcome(judged, digest, texts))
    return digest
  }
  if (live !== undefined) live.onLateThrown = tellLate
  context.onAbort((reason) => {
    if (reason.cause === 'gone') sink.destroy()
  })
  if (live === undefined) return sink.end()
  live.stream.pipe(sink as unknown as NodeJS.WritableStream)
  live.whenRendered(() => sink.letFlow())
}

/** The message of a late failure for visitors without scripts, and crawlers, because the status is already sent. */
function lateOutcome(judged: JudgedThrown, digest: string, texts: PageTexts): string {
  const noindex = '<meta name="robots" content="noindex"/>'
  return judged.kind === 'redirect'
    ? `${noindex}<meta http-equiv="refresh" content="0;url=${escapeHtml(withBasePath(judged.location))}"/>`
    : noindex + lateNotice(judged, digest, texts)
}

/** The placeholder stays as it is: it says that its content follows at the end of the page. */
function lateNotice(judged: Exclude<JudgedThrown, { kind: 'redirect' }>, digest: string, texts: PageTexts): string {
  const text =
    judged.kind === 'refusal' ? titleOf(judged.status, texts) : `${texts.serverFailure}. ${fill(texts.digest, digest)}`
  return `<noscript><p role="alert">${escapeHtml(`${texts.partMissing} ${text}`)}</p></noscript>`
}
