import { MIN_ENCODED_BYTES, negotiateEncoding } from '../../http/content-encoding.ts'
import type { KeptDocument } from '../../stores/cache/document-cache.ts'
import type { RequestContext } from '../../request/context.ts'
import { matchesTag } from './document-tag.ts'
import { setsCookie } from '../../request/answer/answer-headers.ts'
import { send } from '../../request/answer/send.ts'
import { ONE_VISITOR } from '../../request/answer/caching.ts'

/** Headers of a 304; a policy would replace the stored one. */
const WITH_NOT_MODIFIED = new Set(['cache-control', 'etag', 'vary'])

/**
 * Sends a document that was rendered for another visitor, and declares it: `Age` (RFC 9111, section 5.1), and
 * `Cache-Status` (RFC 9211), whose `ttl` is negative if the document is stale.
 */
export async function sendKept(kept: KeptDocument, context: RequestContext): Promise<void> {
  const { req, res } = context
  const age = Math.floor(kept.ageMs / 1_000)
  const ttl = Math.floor((kept.freshMs - kept.ageMs) / 1_000)
  const about = ['Age', String(age), 'Cache-Status', `Millrace; hit; ttl=${ttl}; detail=overload`]
  // The kept document includes the rules' caching.
  res.removeHeader('cache-control')
  const headers = setsCookie(context) ? withCookie(kept.headers) : kept.headers
  if (matchesTag(req.headers['if-none-match'], kept.etag)) {
    send(context, 304, [...headers.filter((_, at, all) => isWithNotModified(at, all)), ...about])
    res.end()
    return
  }
  const plain = await kept.body(undefined)
  const encoding =
    plain.length < MIN_ENCODED_BYTES
      ? undefined
      : negotiateEncoding(req.headers['accept-encoding'] as string | undefined)
  const body = await kept.body(encoding)
  const coding = encoding === undefined ? [] : ['Content-Encoding', encoding]
  send(context, 200, [...headers, ...coding, 'Content-Length', String(body.length), ...about])
  res.end(req.method === 'HEAD' ? undefined : body)
}

function isWithNotModified(at: number, headers: readonly string[]): boolean {
  return WITH_NOT_MODIFIED.has((headers[at - (at % 2)] ?? '').toLowerCase())
}

/** Middleware may set a cookie for some visitors only; the kept document's visitors may have had theirs. */
function withCookie(headers: readonly string[]): readonly string[] {
  const at = headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'cache-control')
  return at === -1 ? headers : headers.with(at + 1, ONE_VISITOR.value)
}
