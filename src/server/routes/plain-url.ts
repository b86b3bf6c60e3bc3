import type { RequestHandler } from 'express'
import { contextOf } from '../request/attached-context.ts'
import { setUrl } from '../request/request-url.ts'

/** Characters that are literal in a path (RFC 3986, section 3.3), except for the slash and percent encodings. */
const PLAIN = /[\w.~!$&'()*+,;=:@-]/
const ENCODED_OR_ODD = /%[0-9a-f]{2}|[^\w.~!$&'()*+,;=:@/%-]/gi

/**
 * Normalises the percent encoding of a path: decodes every literal character, and writes the rest with upper-case
 * digits. Encoded slashes and percent signs stay encoded, because they are data.
 * @param pathname as `request-target.ts` leaves it: decodable and ASCII.
 */
export function plainPath(pathname: string): string {
  return pathname.replace(ENCODED_OR_ODD, (found) => {
    if (found.length === 1) return encodeURIComponent(found)
    const character = String.fromCharCode(Number.parseInt(found.slice(1), 16))
    return PLAIN.test(character) ? character : found.toUpperCase()
  })
}

/**
 * For middleware that compares URLs as text. The route table matches decoded paths, so a guard for `/members` must see
 * `/members` when the request is for `/%6dembers`, for documents, data and calls alike.
 */
export const plainUrl: RequestHandler = (req, _res, next) => {
  const { pathname, search } = contextOf(req)
  setUrl(req, plainPath(pathname) + search)
  next()
}
