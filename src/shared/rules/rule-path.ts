import { escapeUrlText } from '../url-text.ts'

/**
 * A request's path as rules see it. Escapes that a path could do without (`%61` for `a`) are decoded for matching, so
 * that no spelling of a page's URL gets past its rules; what is captured is still the text as it was written.
 */
export interface RulePath {
  /** What sources are matched against. Encoded slashes, percent signs and everything outside ASCII stay encoded. */
  readonly canonical: string
  /** The canonical text before the second slash, in lower case: the key of the pre-filter. */
  readonly firstSegment: string
  /** The text as written that stands behind a range of the canonical one. */
  readonly written: (start: number, end: number) => string
}

// Of the characters a path may hold as they are, those that an escape means no differently: neither `/` nor `%`.
const NEEDLESS_ESCAPE = /%(?:2[146-9a-e]|3[0-9abd]|4[0-9a-f]|5[0-9abdf]|6[1-9a-f]|7[0-9ace])/gi
const ESCAPE_LENGTH = 3

/** @param pathname normalised and still percent-encoded. */
export function readRulePath(pathname: string): RulePath {
  const escapes = pathname.includes('%') ? Array.from(pathname.matchAll(NEEDLESS_ESCAPE), (found) => found.index) : []
  const canonical = canonicalText(pathname)
  const firstSegment = firstSegmentOf(canonical)
  if (escapes.length === 0) return { canonical, firstSegment, written: (start, end) => pathname.slice(start, end) }

  // Each escape before a place moves it by what decoding has saved.
  const saved = ESCAPE_LENGTH - 1
  const starts = escapes.map((at, before) => at - before * saved)
  const place = (at: number) => at + saved * starts.filter((start) => start < at).length
  return { canonical, firstSegment, written: (start, end) => pathname.slice(place(start), place(end)) }
}

/** The same text without needless escapes; `escape` also encodes what a path cannot hold raw, for a rule's own text. */
export function canonicalText(text: string, escape: 'as-is' | 'escape' = 'as-is'): string {
  const escaped = escape === 'escape' ? escapeUrlText(text) : text
  return escaped.includes('%') ? escaped.replace(NEEDLESS_ESCAPE, decodeURIComponent) : escaped
}

/** @param canonical begins with a slash. */
export function firstSegmentOf(canonical: string): string {
  const end = canonical.indexOf('/', 1)
  return (end === -1 ? canonical.slice(1) : canonical.slice(1, end)).toLowerCase()
}
