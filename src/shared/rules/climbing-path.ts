/** How often an upstream may decode a path: servers do it once, and a decoding proxy in front of them a second time. */
const MOST_DECODINGS = 4

/** Decodes to one character per byte, so that invalid UTF-8 is decoded too; `%uXXXX` is an IIS extension. */
const ESCAPE = /%(?:u([\da-f]{4})|([\da-f]{2}))/gi

/** ASCII in more bytes than UTF-8 allows, which some servers accept. */
// oxlint-disable-next-line no-control-regex -- bytes
const OVERLONG =
  /[\u00c0\u00c1][\u0080-\u00bf]|\u00e0[\u0080\u0081][\u0080-\u00bf]|\u00f0\u0080[\u0080\u0081][\u0080-\u00bf]/g

/** What servers on Windows, and those that normalize (NFKC), read as a dot, two dots, a slash or a backslash. */
const LOOKALIKES: Readonly<Record<string, string>> = {
  '\uff0e': '.',
  '\u2024': '.',
  '\ufe52': '.',
  '\u2025': '..',
  '\uff0f': '/',
  '\u2044': '/',
  '\u2215': '/',
  '\uff3c': '\\',
  '\ufe68': '\\',
  '\u2216': '\\',
  '\uff1b': ';',
  '\uff1f': '?',
  '\uff03': '#',
}

/** Their characters, and their bytes in UTF-8. */
const LOOKALIKE =
  /[\uff0e\u2024\ufe52\u2025\uff0f\u2044\u2215\uff3c\ufe68\u2216\uff1b\uff1f\uff03]|[\u00e2\u00ef][\u0080-\u00bf]{2}/g

/**
 * `.` or `..`. Windows servers drop blanks around dots, and others drop control characters. What follows may end the
 * segment for a server: Java's treat text after a semicolon as a parameter, a question mark or hash that was decoded
 * begins a query or fragment, and NTFS reads a stream's name after a colon. So `..` before anything but a character of
 * names counts, a single dot only before those three, because it leads nowhere (`.(draft)`).
 */
const DOT_SEGMENT =
  // oxlint-disable-next-line no-control-regex -- see above
  /(?:^|[/\\])[\u0001- \u007f]*\.(?:[\u0001- \u007f]*(?:$|[/\\;?#])|[\u0001- \u007f]*\.[\u0001- \u007f]*(?:$|[^\w.~%\-\u0001- \u007f-\uffff]))/

/**
 * Whether a server could read a path as one that leaves its folder: some segment is `.` or `..` in any decoding, with
 * encoded slashes and backslashes as separators, and characters that some servers take for them. A path that is encoded
 * more than 4 times counts as well, and so does a null byte, at which a server in C ends the path.
 * @param pathname percent-encoded.
 */
export function mayClimb(pathname: string): boolean {
  let path = pathname
  for (let times = 0; times <= MOST_DECODINGS; times += 1) {
    if (path.includes('\0') || DOT_SEGMENT.test(path)) return true
    if (!/[%\u0080-\uffff]/.test(path)) return false
    const next = decoded(path).replace(
      LOOKALIKE,
      (found) => LOOKALIKES[found] ?? LOOKALIKES[String.fromCharCode(lowBits(found))] ?? found,
    )
    if (next === path) return false
    path = next
  }
  return true
}

/**
 * Whether a path has an encoded slash or backslash, encoded up to 4 times. Most servers decode a path before they look for
 * its folders, and middleware that compares it as it was written has let `/admin%2fusers` pass.
 * @param pathname percent-encoded.
 */
export function hidesSlash(pathname: string): boolean {
  let path = pathname.replaceAll('/', ' ')
  for (let times = 0; times < MOST_DECODINGS && path.includes('%'); times += 1) path = decoded(path)
  return /[/\\]/.test(path)
}

function decoded(path: string): string {
  return path
    .replace(ESCAPE, (_, wide: string | undefined, byte: string) =>
      String.fromCharCode(Number.parseInt(wide ?? byte, 16)),
    )
    .replace(OVERLONG, (bytes) => String.fromCharCode(lowBits(bytes)))
}

/** The character's code in bytes of UTF-8: six bits of each, and the rest of the first. */
function lowBits(bytes: string): number {
  let code = bytes.charCodeAt(0) & (0x7f >> bytes.length)
  for (let at = 1; at < bytes.length; at += 1) code = (code << 6) | (bytes.charCodeAt(at) & 0x3f)
  return code
}
