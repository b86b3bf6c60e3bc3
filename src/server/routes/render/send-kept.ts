import { MIN_ENCODED_BYTES, negotiateEncoding, type Encoding } from '../../http/content-encoding.ts'
import type { KeptDocument } from '../../stores/cache/document-cache.ts'
import type { RequestContext } from '../../request/context.ts'
import { matchesTag } from './document-tag.ts'
import { valueIndex } from '../../http/header-list.ts'
import { cacheTiming, setsCookie } from '../../request/answer/answer-headers.ts'
import { send } from '../../request/answer/send.ts'
import { isTargetedCaching, mayBeShared, mayBeSharedUnasked } from '../../http/cache-control.ts'
import { ONE_VISITOR, PRIVATE, takeRuledCaching } from '../../request/answer/caching.ts'

/** Added to the `Vary` of a page with slots that caches may send without asking. */
export const OF_VISITOR = ', Cookie, Authorization'

const ONE_WRITE_BYTES = 16_384

/** Headers of a 304; a policy would replace the stored one. */
const WITH_NOT_MODIFIED = new Set(['cache-control', 'etag', 'vary'])

/**
 * The body that a visitor gets of a kept document.
 * @returns a promise where the coding is not there; `undefined` for a visitor that has the document already.
 */
export function cachedBody(
  kept: KeptDocument,
  { req, clientAddress }: RequestContext,
): Buffer | Promise<Buffer> | undefined {
  if (matchesTag(req.headers['if-none-match'], kept.etag)) return undefined
  return kept.body(codingFor(kept, req), clientAddress.address)
}

function codingFor({ length }: KeptDocument, { headers }: RequestContext['req']): Encoding | undefined {
  return length < MIN_ENCODED_BYTES ? undefined : negotiateEncoding(headers['accept-encoding'] as string | undefined)
}

/**
 * Sends a document that was not made for this visitor, and declares it: `Age` (RFC 9111, section 5.1), and `Cache-Status`
 * (RFC 9211).
 * @param body as `cachedBody` gives it.
 */
export function sendKept(
  kept: KeptDocument,
  body: Buffer | undefined,
  context: RequestContext,
  cacheStatus: string,
): void {
  const { req, res } = context
  const about = ['Age', String(Math.floor(kept.ageMs / 1_000)), 'Cache-Status', cacheStatus]
  const { cache } = context.record
  if (cache !== undefined) about.push('Server-Timing', cacheTiming(cache))
  const headers = withCaching(kept, context)
  if (body === undefined) {
    send(context, 304, [...headers.filter((_, at, all) => isWithNotModified(at, all)), ...about])
    res.end()
    return
  }
  const encoding = codingFor(kept, req)
  const coding = encoding === undefined ? [] : ['Content-Encoding', encoding]
  send(context, 200, [...headers, ...coding, 'Content-Length', String(body.length), ...about])
  if (req.method === 'HEAD') res.end()
  // Head and body in one string are one write; a large body costs less as it is.
  else if (body.length <= ONE_WRITE_BYTES) res.end(body.toString('latin1'), 'latin1')
  else res.end(body)
}

/** Sends one instead of a refusal. Its `ttl` is negative if it is stale. */
export async function sendInstead(kept: KeptDocument, context: RequestContext): Promise<void> {
  const body = await cachedBody(kept, context)
  const ttl = Math.floor((kept.freshMs - kept.ageMs) / 1_000)
  sendKept(kept, body, context, `Millrace; hit; ttl=${ttl}; detail=overload`)
}

function isWithNotModified(at: number, headers: readonly string[]): boolean {
  return WITH_NOT_MODIFIED.has((headers[at - (at % 2)] ?? '').toLowerCase())
}

/**
 * A kept document includes the caching that rules or a loader gave it; a default gives way to that of this visitor's rules.
 * Middleware may set a cookie for some visitors only; the kept document's visitors may have had theirs.
 */
function withCaching(kept: KeptDocument, context: RequestContext): readonly string[] {
  const { headers, hasDefaultCaching } = kept
  const ruled = takeRuledCaching(context)
  const wanted = hasDefaultCaching ? ruled : undefined
  let value = setsCookie(context) && (wanted === undefined || mayBeShared(wanted)) ? ONE_VISITOR.value : wanted
  const { ofVariant } = context.audience
  const isOfStrangers = kept.slots !== undefined && (value !== undefined || setsTargetedCaching(context))
  if (value === undefined && !ofVariant && !isOfStrangers) return headers
  const at = valueIndex(headers, 'cache-control')
  value ??= headers[at] ?? ''
  if (ofVariant && mayBeShared(value)) value = PRIVATE.value
  const cached = at === -1 ? headers : headers.with(at, value)
  return isOfStrangers && (mayBeSharedUnasked(value) || setsTargetedCaching(context)) ? varied(cached) : cached
}

function setsTargetedCaching({ res }: RequestContext): boolean {
  return res.getHeaderNames().some(isTargetedCaching)
}

/** A visitor of whom the page reads something gets another answer. */
function varied(headers: readonly string[]): readonly string[] {
  const at = valueIndex(headers, 'vary')
  const value = headers[at] ?? ''
  return at === -1 || value.endsWith(OF_VISITOR) ? headers : headers.with(at, value + OF_VISITOR)
}
