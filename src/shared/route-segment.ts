/** One path segment in its two forms: as it stands in a URL, and as the application sees it. */

/**
 * Decodes a segment exactly once. An encoded slash stays data, because the path was split before.
 * @param text the segment as it stands in the URL.
 * @returns `undefined` where the percent-encoding is broken or is no valid UTF-8.
 */
export function decodeSegment(text: string): string | undefined {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/**
 * Encodes a segment so that `decodeSegment` gives it back. What RFC 3986 (section 3.3) allows in a path as it is, such
 * as `@` and `:`, is left alone, so that the result is what a browser shows and what `URL` leaves untouched.
 * @param value any well-formed text.
 * @throws {URIError} if the text has a surrogate without its partner: UTF-8 cannot express it.
 */
export function encodeSegment(value: string): string {
  return encodeURI(value).replaceAll('/', '%2F').replaceAll('?', '%3F').replaceAll('#', '%23')
}
