import type { Metadata } from '../../../client/module-types.ts'
import { escapeJson } from '../../request/answer/escape-json.ts'
import { DOCTYPE, DOCUMENT_END, DocumentShapeError, headStart } from './document-markup.ts'
import type { InsertedHtml } from './inserted-html.ts'
import type { DocumentAssets } from './route-assets.ts'

/** Beyond this many characters, joining strings costs more than several writes. */
const JOIN_LIMIT = 16_384

/** What a document consists of besides React's HTML. */
export interface ComposedParts {
  readonly assets: DocumentAssets
  /** See `besidesOf`. */
  readonly besides: string
  /** `''` for a document that caches may share. */
  readonly nonce: string
  /** Whether values follow that JSON cannot represent. */
  readonly isLate: boolean
  /** Scripts of the hydration data after its element. */
  readonly chunks: string
}

/** A complete document. */
export interface ComposedDocument {
  /** What is inserted beside React's markup. */
  readonly besides: string
  /** Its pieces; many documents are one. @param handedOver the hydration data. */
  pieces(handedOver: string): readonly string[]
}

/**
 * Puts a document together.
 * @throws {DocumentShapeError}
 */
export function composeDocument(html: string, parts: ComposedParts): ComposedDocument {
  const { assets, besides, nonce, isLate, chunks } = parts
  const at = headStart(html)
  if (!html.endsWith(DOCUMENT_END)) throw new DocumentShapeError()
  return {
    besides,
    pieces(handedOver) {
      const head = (html.startsWith(DOCTYPE) ? '' : DOCTYPE) + html.slice(0, at) + assets.head(nonce, isLate) + besides
      const content = html.slice(at, -DOCUMENT_END.length)
      const end = handedOver + chunks + assets.bootstrap(nonce) + DOCUMENT_END
      return html.length < JOIN_LIMIT ? [head + content + end] : [head, content, end]
    },
  }
}

/**
 * Elements beside React's markup. They run code of the application, which may read the search params: call it before what
 * was read decides about the document.
 */
export function besidesOf(parts: {
  readonly inserted: Pick<InsertedHtml, 'take'>
  readonly metadata: Metadata
}): string {
  return parts.inserted.take() + jsonLdTags(parts.metadata)
}

/**
 * One object counts as a list of one, and nothing is written for what JSON leaves out. Call it before the head is sent.
 * @throws what `JSON.stringify` throws.
 */
export function jsonLdTags({ jsonLd }: Metadata): string {
  if (jsonLd === undefined) return ''
  return [jsonLd]
    .flat()
    .map((document) => JSON.stringify(document ?? undefined) as string | undefined)
    .map((json) => (json === undefined ? '' : `<script type="application/ld+json">${escapeJson(json)}</script>`))
    .join('')
}
