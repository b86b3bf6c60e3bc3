/** How often an upstream may decode a path: servers do it once, and a decoding proxy in front of them a second time. */
const MOST_DECODINGS = 4

/** Decodes to one character per byte, so that invalid UTF-8 is decoded too; `%uXXXX` is an IIS extension. */
const ESCAPE = /%(?:u00)?([\da-f]{2})/gi

/** Two bytes that some servers read as `.`, `/` and `\`, though they are invalid UTF-8. */
const OVERLONG: Readonly<Record<string, string>> = { '\u00c0\u00ae': '.', '\u00c0\u00af': '/', '\u00c1\u009c': '\\' }

/**
 * `.` or `..`. Java servers treat text after a semicolon as a parameter, Windows servers drop blanks around dots, and
 * others drop control characters.
 */
// oxlint-disable-next-line no-control-regex -- see above
const DOT_SEGMENT = /(?:^|[/\\])[\u0001- \u007f]*\.[\u0001- \u007f]*(?:\.[\u0001- \u007f]*)?(?:;[^/\\]*)?(?:[/\\]|$)/

/**
 * Whether a server could read a path as one that leaves its folder: some segment is `.` or `..` in any decoding, with
 * encoded slashes and backslashes as separators. A path that is encoded more than 4 times counts as well, and so does a
 * null byte, at which a server in C ends the path.
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
