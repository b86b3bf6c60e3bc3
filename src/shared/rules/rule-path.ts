import { escapeUrlText } from '../url-text.ts'

/**
 * A request's path for matching. Unnecessary escapes (`%61` for `a`) are decoded, so that no spelling of a page's URL
 * evades its rules; captures still have the original text.
 */
export interface RulePath {
  /** Text for matching sources. Encoded slashes, percent signs and everything outside ASCII stay encoded. */
  readonly canonical: string
  /** The canonical text before the second slash, in lower case: the key of the pre-filter. */
  readonly firstSegment: string
  /** The original text of a range of the canonical one. */
  readonly written: (start: number, end: number) => string
}

// Escapes of characters that are literal in a path and mean the same encoded: neither `/` nor `%`.
const NEEDLESS_ESCAPE = /%(?:2[146-9a-e]|3[0-9abd]|4[0-9a-f]|5[0-9abdf]|6[1-9a-f]|7[0-9ace])/gi
const ESCAPE_LENGTH = 3

/** @param pathname normalised and still percent-encoded. */
export function readRulePath(pathname: string): RulePath {
  const escapes = pathname.includes('%') ? Array.from(pathname.matchAll(NEEDLESS_ESCAPE), (found) => found.index) : []
  const canonical = canonicalText(pathname)
  const firstSegment = firstSegmentOf(canonical)
  if (escapes.length === 0) return { canonical, firstSegment, written: (start, end) => pathname.slice(start, end) }

  let places: Uint32Array | undefined
  const place = (at: number): number | undefined => (places ??= writtenPlaces(canonical.length, escapes))[at]
  return { canonical, firstSegment, written: (start, end) => pathname.slice(place(start), place(end)) }
}

/**
 * The position in the original text for each position of the canonical one. Computed at once: a rule may need it for
 * each of the thousands of segments of a path.
 * @param escapes positions in the original text of escapes that decoding has made one character of.
 */
function writtenPlaces(length: number, escapes: readonly number[]): Uint32Array {
  const places = new Uint32Array(length + 1)
  let passed = 0
  for (let at = 0, written = 0; at <= length; at += 1) {
    places[at] = written
    const isEscape = written === escapes[passed]
    written += isEscape ? ESCAPE_LENGTH : 1
    if (isEscape) passed += 1
  }
  return places
}

/** The same text without needless escapes; `escape` also encodes invalid characters, for a rule's own text. */
export function canonicalText(text: string, escape: 'as-is' | 'escape' = 'as-is'): string {
  const escaped = escape === 'escape' ? escapeUrlText(text) : text
  return escaped.includes('%') ? escaped.replace(NEEDLESS_ESCAPE, decodeURIComponent) : escaped
}

/** @param canonical begins with a slash. */
export function firstSegmentOf(canonical: string): string {
  const end = canonical.indexOf('/', 1)
  return (end === -1 ? canonical.slice(1) : canonical.slice(1, end)).toLowerCase()
}
