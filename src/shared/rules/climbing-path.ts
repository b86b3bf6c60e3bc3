/** How often an upstream may decode what it gets: servers do it once, those behind a proxy that does it too twice. */
const MOST_DECODINGS = 4

/** As one byte each, so that bytes that are no UTF-8 are decoded too; `%uXXXX` is IIS's own. */
const ESCAPE = /%(?:u00)?([\da-f]{2})/gi

/** Two bytes that some servers take for `.`, `/` and `\`, though UTF-8 allows no such spelling. */
const OVERLONG: Readonly<Record<string, string>> = { '\u00c0\u00ae': '.', '\u00c0\u00af': '/', '\u00c1\u009c': '\\' }

/**
 * "Here" or "one up"; what follows a semicolon is a parameter to servers in Java. Servers on Windows drop blanks around
 * dots, and others drop control characters.
 */
// oxlint-disable-next-line no-control-regex -- see above
const DOT_SEGMENT = /(?:^|[/\\])[\u0001- \u007f]*\.[\u0001- \u007f]*(?:\.[\u0001- \u007f]*)?(?:;[^/\\]*)?(?:[/\\]|$)/

/**
 * Whether a server could read a path as one that climbs: some segment is `.` or `..` in whatever way of decoding it, with
 * encoded slashes and backslashes as separators. What is encoded more than 4 times over counts as climbing,
 * and so does a null byte, at which a server in C ends the path.
 * @param pathname percent-encoded.
 */
export function mayClimb(pathname: string): boolean {
  let path = pathname
  for (let decoded = 0; decoded <= MOST_DECODINGS; decoded += 1) {
    if (path.includes('\0') || DOT_SEGMENT.test(path)) return true
    if (!path.includes('%') && !path.includes('\u00c0') && !path.includes('\u00c1')) return false
    const next = path
      .replace(ESCAPE, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
      .replace(/\u00c0[\u00ae\u00af]|\u00c1\u009c/g, (bytes) => OVERLONG[bytes] ?? '')
    if (next === path) return false
    path = next
  }
  return true
}
