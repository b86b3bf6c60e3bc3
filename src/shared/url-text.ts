/** What may not stand raw in a URL. Without the `i` flag: with `u` it would let the Kelvin sign pass as a `k`. */
const UNSAFE_URL_TEXT = /%(?![0-9A-Fa-f]{2})|[^!#$%&'()*+,\-./0-9:;=?@A-Z[\]_a-z~]/gu

/**
 * Percent-encodes what may not stand raw in a URL: spaces, quotes, angle brackets, backslashes, controls, everything
 * outside ASCII, and a `%` that begins no escape. Valid escapes stay as they are, so nothing is encoded twice.
 */
export function escapeUrlText(text: string): string {
  return text.toWellFormed().replace(UNSAFE_URL_TEXT, encodeURIComponent)
}
