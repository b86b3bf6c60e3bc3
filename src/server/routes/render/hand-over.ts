import { send } from '../../request/answer/send.ts'
import { retryHeaders } from '../../request/answer/judge-thrown.ts'
import { cachingOf, NO_STORE, SHARED } from '../../request/answer/caching.ts'
import type { RequestContext } from '../../request/context.ts'
import type { DocumentMaking } from '../../request/document-making.ts'
import { isTargetedCaching, mayBeShared, mayBeSharedUnasked } from '../../http/cache-control.ts'
import { valueIndex, type HeaderList } from '../../http/header-list.ts'
import type { SentDocument } from '../../stores/cache/document-cache.ts'
import { besidesOf, composeDocument } from './compose-document.ts'
import { OF_VISITOR } from './send-kept.ts'
import { documentTag } from './document-tag.ts'
import { stableHydrationData } from './hydration-data-writer.ts'
import { sharedHeaders, type DocumentParts } from './send-document.ts'

/** What was rendered for all visitors. */
interface MadeForAll {
  /** The complete document; `undefined` if there is none for a visitor of whom nothing is known. */
  readonly html: string | undefined
  /** The same for visitors of whom something is known; `undefined` for a page without slots. */
  readonly slots: SentDocument['slots']
}

/**
 * Hands a document over that was made for all visitors: to the cache if it is successful, otherwise to those that wait.
 * @throws {RequestAborted} if it cannot be for all.
 */
export async function handOver(
  { html = '', slots }: MadeForAll,
  parts: DocumentParts,
  context: RequestContext,
  making: DocumentMaking,
): Promise<void> {
  const { assets, status } = parts
  const isWhole = html !== ''
  const besides = besidesOf(parts)
  leaveIfPrivate(html, parts, context, making)
  if (!isWhole) return keepShell(slots, parts, context, making)
  const data = parts.hydrationDataForAll?.() ?? parts.hydrationData
  const element = data.complete === undefined ? data.element : await data.complete(html)
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
    headers.push(...retryHeaders({ retryAfter: parts.retryAfter }))
    send(context, status, headers)
    context.res.end(body)
    return
  }
  // A cache that does not ask would send a stranger's page to a visitor.
  const isTargeted = headers.some((name, index) => index % 2 === 0 && isTargetedCaching(name))
  if (slots !== undefined && (mayBeSharedUnasked(caching.value) || isTargeted)) extendVary(headers)
  const etag = documentTag(html, besides + stableHydrationData(element, context), assets.build)
  parts.keep?.({
    etag,
    lifetime: making.lifetime,
    hasDefaultCaching: given === undefined,
    slots,
    content: () => ({ headers: headers.concat('ETag', etag), body }),
  })
}

function keepShell(
  slots: MadeForAll['slots'],
  { status, keep }: DocumentParts,
  context: RequestContext,
  making: DocumentMaking,
): void {
  if (status !== 200) making.leave('visitor')
  if (making.reason !== undefined) making.leave(making.reason)
  if (slots === undefined || 'reason' in slots) making.leave(slots?.reason ?? 'visitor')
  const content = () => ({ headers: [], body: Buffer.alloc(0) })
  keep?.({ etag: '', lifetime: making.lifetime, slots, isWhole: false, content })
}

function extendVary(headers: HeaderList): void {
  const at = valueIndex(headers, 'vary')
  headers[at] += OF_VISITOR
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
