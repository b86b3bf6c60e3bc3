/**
 * Characters that a URL must not contain raw. Without the `i` flag: with `u` it would accept the Kelvin sign as a `k`.
 */
const UNSAFE_URL_TEXT = /%(?![0-9A-Fa-f]{2})|[^!#$%&'()*+,\-./0-9:;=?@A-Z[\]_a-z~]/gu

/**
 * Percent-encodes characters that are invalid in a URL: spaces, quotes, angle brackets, backslashes, controls,
 * everything outside ASCII, and a `%` that does not begin an escape. Valid escapes are unchanged, so nothing is encoded
 * twice.
 */
export function escapeUrlText(text: string): string {
  return text.toWellFormed().replace(UNSAFE_URL_TEXT, encodeURIComponent)
}
