import type { RouteView } from '../../../client/react/route-view.ts'
import type { Metadata } from '../../../client/module-types.ts'
import { encodeWhole, MIN_ENCODED_BYTES, negotiateEncoding, type Encoding } from '../../http/content-encoding.ts'
import type { SentDocument } from '../../stores/cache/document-cache.ts'
import { documentLifetime } from '../../stores/cache/document-lifetime.ts'
import { traceTimings } from '../../request/request-trace.ts'
import type { RequestContext } from '../../request/context.ts'
import { isSecure } from '../../http/trusted-proxy.ts'
import { fittingReferrers } from '../../request/answer/host-headers.ts'
import { addGivenHeaders, serverTiming, varyOf } from '../../request/answer/answer-headers.ts'
import { besidesOf, composeDocument, type ComposedDocument } from './compose-document.ts'
import { documentTag, matchesTag } from './document-tag.ts'
import { retryHeaders } from '../../request/answer/judge-thrown.ts'
import { stableHydrationData, type HydrationData } from './hydration-data-writer.ts'
import type { FormTarget } from './form-target.ts'
import type { InsertedHtml } from './inserted-html.ts'
import type { DocumentAssets } from './route-assets.ts'
import { valueIndex, type HeaderList } from '../../http/header-list.ts'
import {
  documentCaching,
  PRIVATE,
  privateCaching,
  takeRuledCaching,
  type Caching,
} from '../../request/answer/caching.ts'
import { send } from '../../request/answer/send.ts'

/** Parts of the answer besides React's HTML. */
export interface DocumentParts {
  readonly status: number
  readonly view: RouteView
  readonly metadata: Metadata
  readonly assets: DocumentAssets
  readonly hydrationData: HydrationData
  /** Keeps the document for overload, if it is successful and public; absent for answers that are not pages. */
  readonly keep?: ((document: SentDocument) => void) | undefined
  /** The hydration data for the kept document, if it differs. */
  readonly hydrationDataForAll?: () => HydrationData | undefined
  /** Its forms, as rendered. */
  readonly forms: Pick<FormTarget, 'hasCallKey'>
  /** Elements beside React's. */
  readonly inserted: Pick<InsertedHtml, 'take' | 'hasNonce'>
  /** Seconds after which a visitor who gets this failure may retry. */
  readonly retryAfter?: number | undefined
}

/** Sends a complete document: with its length, an ETag, and 304 if the client already has it. */
export function sendWhole(html: string, parts: DocumentParts, context: RequestContext): Promise<void> | undefined {
  const { start, settled } = parts.hydrationData
  const element = settled?.(html)
  if (start === undefined || element !== undefined) {
    return new WholeDocument(
      html,
      { element: element ?? parts.hydrationData.element, chunks: '' },
      parts,
      context,
    ).send()
  }
  const values = { element: parts.hydrationData.element, chunks: '' }
  const sending = start((script) => (values.chunks += script), html)
  return sending.then(() => new WholeDocument(html, values, parts, context).send())
}

/** The hydration data of a complete document. */
interface WholeData {
  readonly element: string
  /** Scripts with values that were pending; they have the nonce. */
  readonly chunks: string
}

/** A complete document that is about to be sent. */
class WholeDocument {
  readonly #html: string
  readonly #element: string
  readonly #parts: DocumentParts
  readonly #context: RequestContext
  readonly #caching: Caching
  readonly #nonce: string
  readonly #composed: ComposedDocument
  readonly #etag: string | undefined

  constructor(html: string, { element, chunks }: WholeData, parts: DocumentParts, context: RequestContext) {
    const { hydrationData, status } = parts
    this.#html = html
    this.#element = element
    this.#parts = parts
    this.#context = context
    this.#caching = wholeCaching(parts, chunks === '', context)
    this.#nonce = this.#caching.shared ? '' : context.nonce
    const isLate = hydrationData.start !== undefined
    this.#composed = composeDocument(html, { ...parts, besides: besidesOf(parts), nonce: this.#nonce, isLate, chunks })
    const late = chunks === '' ? '' : chunks.replaceAll(context.nonce, '')
    const hasTag = status === 200 && context.req.method !== 'POST'
    this.#etag = hasTag ? this.#tagOf(element + late) : undefined
  }

  send(): Promise<void> | undefined {
    const context = this.#context
    const { req, res } = context
    const etag = this.#etag
    if (etag !== undefined && matchesTag(req.headers['if-none-match'], etag)) {
      this.#keep()
      const timing = serverTiming('shell', context) + traceFor(this.#caching, context)
      const { value } = this.#caching
      // A policy here would replace the stored one, whose nonce the stored body contains.
      send(context, 304, [
        'ETag',
        etag,
        'Cache-Control',
        value,
        'Vary',
        varyOf(context, value),
        'Server-Timing',
        timing,
      ])
      return void res.end()
    }
    const body = this.#body()
    const lengths = body.map((part) => Buffer.byteLength(part))
    const length = lengths.reduce((sum, part) => sum + part, 0)
    const encoding = length < MIN_ENCODED_BYTES ? undefined : negotiate(context)
    if (encoding !== undefined) {
      return encodeWhole(encoding, Buffer.from(body.join(''))).then((encoded) => {
        this.#sendHead(encoded.length, [encoding, encoded])
        res.end(req.method === 'HEAD' ? undefined : encoded)
        context.place.noteUnread?.(res.writableLength)
      })
    }
    this.#sendHead(length)
    endWith(context, body, lengths)
    context.place.noteUnread?.(res.writableLength)
    return undefined
  }

  /** @param handedOver hydration data and what follows it, without nonces. */
  #tagOf(handedOver: string): string {
    const { inserted, assets } = this.#parts
    const { nonce } = this.#context
    const withoutNonce = (text: string): string => (inserted.hasNonce() ? text.replaceAll(nonce, '') : text)
    const rest = withoutNonce(this.#composed.besides) + stableHydrationData(handedOver, this.#context)
    return documentTag(withoutNonce(this.#html), rest, assets.build)
  }

  /** @param element replaces the hydration data of this visitor. */
  #body(element = this.#element): readonly string[] {
    return this.#composed.pieces(element)
  }

  #sendHead(length: number, coded?: readonly [Encoding, Buffer]): void {
    const headers = documentHeaders(this.#parts, this.#context, this.#nonce, this.#caching)
    if (coded !== undefined) headers.push('Content-Encoding', coded[0])
    headers.push('Content-Length', String(length))
    if (this.#etag !== undefined) headers.push('ETag', this.#etag)
    this.#keep(coded)
    send(this.#context, this.#parts.status, headers)
  }

  /** Keeps the document if it is public: its author says so, and no visitor data was read. */
  #keep(encoded?: readonly [Encoding, Buffer]): void {
    const { keep, hydrationDataForAll } = this.#parts
    const context = this.#context
    if (this.#etag === undefined || keep === undefined) return
    if (!this.#caching.shared || context.audience.personal !== undefined || !isForAll(context)) return
    const lifetime = documentLifetime(this.#caching.value)
    if (lifetime === undefined) return
    const forAll = hydrationDataForAll?.()
    const other = forAll?.settled?.(this.#html) ?? forAll?.element
    const etag = other === undefined ? this.#etag : this.#tagOf(other)
    keep({
      etag,
      encoded: other === undefined ? encoded : undefined,
      lifetime,
      content: () => ({
        headers: sharedHeaders(this.#parts, context, this.#caching).concat('ETag', etag),
        body: Buffer.from(this.#body(other).join('')),
      }),
    })
  }
}

/** Middleware and rules may have made the answer private. */
function isForAll({ req, res, givenHeaders }: RequestContext): boolean {
  return req.headers.authorization === undefined && givenHeaders?.has('vary') !== true && !res.hasHeader('vary')
}

/** @param lengths of the pieces, in bytes. */
function endWith({ req, res }: RequestContext, body: readonly string[], lengths: readonly number[]): void {
  if (req.method === 'HEAD') return void res.end()
  // Headers and body in one string are one write; several strings are corked.
  if (body.length > 1) res.cork()
  body.forEach((part, at) => {
    // Strings with one byte per character are written as they are.
    const encoding = lengths[at] === part.length ? 'latin1' : 'utf8'
    if (at === body.length - 1) res.end(part, encoding)
    else res.write(part, encoding)
  })
}

/** The coding of a streamed or large answer. */
export function negotiate(context: RequestContext, offered?: readonly Encoding[]): Encoding | undefined {
  return negotiateEncoding(context.req.headers['accept-encoding'] as string | undefined, offered)
}

function wholeCaching(parts: DocumentParts, isSettled: boolean, context: RequestContext): Caching {
  const { forms, inserted } = parts
  const caching = takeCaching(parts, context)
  const isForAll = isSettled && !inserted.hasNonce() && !forms.hasCallKey
  return isForAll ? caching : ofOneVisitor(caching, context)
}

/** For a document that contains something of one visitor: no cache sends it to others, whatever header the cache uses. */
export function ofOneVisitor(caching: Caching, { audience }: RequestContext): Caching {
  audience.guarded = true
  return privateCaching(caching)
}

/** Rules and middleware have said theirs on the response, which gets the decision instead. */
export function takeCaching({ status }: Pick<DocumentParts, 'status'>, context: RequestContext): Caching {
  const caching = documentCaching(context, status)
  takeRuledCaching(context)
  return caching
}

/**
 * The trace that the page continues: only if each load of the page reaches the server, and the answer is not shared.
 */
function traceFor({ value, shared }: Caching, { trace }: RequestContext): string {
  if (trace === undefined || shared) return ''
  const asksAnew = value === PRIVATE.value || /\bno-(?:cache|store)\b/i.test(value)
  return asksAnew ? `, ${traceTimings(trace)}` : ''
}

/** What the headers of a document depend on, besides its request. */
interface HeaderParts extends Pick<DocumentParts, 'assets' | 'retryAfter' | 'status'> {
  /** Source expressions of the inline scripts of a kept shell. */
  readonly scripts?: readonly string[] | undefined
}

/** Headers of a document for one visitor. */
export function documentHeaders(
  { assets, retryAfter, status, scripts }: HeaderParts,
  context: RequestContext,
  nonce: string,
  caching: Caching,
): HeaderList {
  const headers = contentHeaders({ assets, scripts }, context, nonce, caching)
  headers.push('Server-Timing', serverTiming('shell', context) + traceFor(caching, context))
  const link = assets.link(nonce)
  if (link !== undefined && status < 500) headers.push('Link', link)
  headers.push(...retryHeaders({ retryAfter }))
  headers.push(...givenToPage(context))
  return headers
}

function contentHeaders(
  { assets, scripts }: Pick<HeaderParts, 'assets' | 'scripts'>,
  context: RequestContext,
  nonce: string,
  caching: Caching,
): HeaderList {
  const { value } = caching
  const headers = ['Content-Type', 'text/html; charset=utf-8', 'Cache-Control', value, 'Vary', varyOf(context, value)]
  const policies = assets.policiesFor(isSecure(context.clientAddress))
  const own = scripts === undefined ? policies.withNonce(nonce) : policies.withSlots(nonce, scripts)
  headers.push('Content-Security-Policy', caching.shared ? policies.shared : own)
  if (policies.endpoints !== undefined) headers.push('Reporting-Endpoints', policies.endpoints)
  return headers
}

/** Headers that the loaders of a page have set, its `Referrer-Policy` as one that was set in front. */
export function givenToPage(context: RequestContext): HeaderList {
  const given: HeaderList = []
  addGivenHeaders(given, context)
  const at = valueIndex(given, 'referrer-policy')
  if (at > 0) given[at] = fittingReferrers(given[at] ?? '')
  return given
}

/** Headers of a document that do not depend on the visitor or on timing. */
export function sharedHeaders({ assets }: DocumentParts, context: RequestContext, caching: Caching): HeaderList {
  const headers = contentHeaders({ assets }, context, '', caching)
  const link = assets.link('')
  if (link !== undefined) headers.push('Link', link)
  headers.push(...givenToPage(context))
  return headers
}
