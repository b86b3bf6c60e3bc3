import { send } from '../../request/answer/send.ts'
import { retryHeaders } from '../../request/answer/judge-thrown.ts'
import { cachingOf, NO_STORE, SHARED } from '../../request/answer/caching.ts'
import type { RequestContext } from '../../request/context.ts'
import type { DocumentMaking } from '../../request/document-making.ts'
import { mayBeShared } from '../../http/cache-control.ts'
import { besidesOf, composeDocument } from './compose-document.ts'
import { documentTag } from './document-tag.ts'
import { stableHydrationData } from './hydration-data-writer.ts'
import { sharedHeaders, type DocumentParts } from './send-document.ts'

/**
 * Hands a document over that was made for all visitors: to the cache if it is successful, otherwise to those that wait.
 * @throws {RequestAborted} if it cannot be for all.
 */
export async function handOver(
  html: string,
  parts: DocumentParts,
  context: RequestContext,
  making: DocumentMaking,
): Promise<void> {
  const { assets, status } = parts
  const besides = besidesOf(parts)
  leaveIfPrivate(html, parts, context, making)
  const data = parts.hydrationDataForAll?.() ?? parts.hydrationData
  const element = data.complete === undefined ? data.element : await data.complete()
  if (making.reason !== undefined) making.leave(making.reason)
  const isLate = data.start !== undefined
  const document = composeDocument(html, { ...parts, besides, nonce: '', isLate, chunks: '' })
  const given = context.givenHeaders?.get('cache-control') ?? undefined
  const caching = {
    ...cachingOf({ status, wanted: given, byDefault: status === 200 ? SHARED : NO_STORE, setsCookie: false }),
    shared: true,
  }
  const headers = sharedHeaders(parts, context, caching)
  const body = Buffer.from(document.pieces(element).join(''))
  if (status !== 200) {
    headers.push(...retryHeaders({ retryAfter: parts.retryAfter }), 'Content-Length', String(body.length))
    send(context, status, headers)
    context.res.end(body)
    return
  }
  const etag = documentTag(html, besides + stableHydrationData(element, context), assets.build)
  parts.keep?.({
    etag,
    lifetime: making.lifetime,
    hasDefaultCaching: given === undefined,
    content: () => ({ headers: headers.concat('ETag', etag), body }),
  })
}

/** What a loader sets for one visitor, and what needs a nonce, is not for all. */
function leaveIfPrivate(
  html: string,
  { inserted }: DocumentParts,
  context: RequestContext,
  making: DocumentMaking,
): void {
  const { givenHeaders } = context
  if (givenHeaders?.has('set-cookie') === true) making.leave('set-cookie')
  if (givenHeaders?.has('vary') === true) making.leave('vary')
  const caching = givenHeaders?.get('cache-control')
  if (typeof caching === 'string' && !mayBeShared(caching)) making.leave('cache-control')
  if (inserted.hasNonce()) making.leave('nonce')
  if (html.includes(context.nonce)) making.leave('script')
}
