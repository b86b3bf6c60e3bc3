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
