/** One path segment in its two forms: encoded in a URL, and decoded for the application. */

/**
 * Decodes a segment exactly once. An encoded slash stays data, because the path is already split.
 * @param text the segment as in the URL.
 * @returns `undefined` for invalid percent-encoding or UTF-8.
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
 * Encodes a segment so that `decodeSegment` returns it. Characters that RFC 3986 (section 3.3) allows literally in a
 * path, such as `@` and `:`, are unchanged, so that the result is what a browser shows and `URL` does not change it.
 * @param value any well-formed text.
 * @throws {URIError} if the text has an unpaired surrogate, which UTF-8 cannot express.
 */
export function encodeSegment(value: string): string {
  return encodeURI(value).replaceAll('/', '%2F').replaceAll('?', '%3F').replaceAll('#', '%23')
}
