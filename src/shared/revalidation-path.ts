import { MAX_TARGET_BYTES } from './limits.ts'
import { decodeSegment, encodeSegment } from './route-segment.ts'

/** Characters of a tag or a segment. What is longer may be a visitor's text, and caches keep a hash of it instead. */
const LONGEST_NAME = 100

/** Paths with only one spelling, which most have. */
const PLAIN = /^(?:\/[\w.~-]{1,100})+$/

/**
 * Normalises a page's path for comparison in `revalidate`, whether written by hand, by `href()`, or by the browser.
 * Each segment is decoded and encoded again; query, fragment, and superfluous slashes are removed. A hash replaces a long
 * segment. Normalising twice changes nothing more.
 * @returns `''` for a path longer than any URL: it names no page.
 */
export function revalidationPath(path: string): string {
  if (path.length > MAX_TARGET_BYTES) return ''
  if (PLAIN.test(path)) return path
  const segments = path.replace(/[?#].*/s, '').split('/')
  return `/${segments.filter(Boolean).map(inOneForm).join('/')}`
}

/**
 * Normalises a target of `revalidate`: a path, a path with `/*` for everything below it, or a tag, which a hash
 * replaces if it is long. Tags of cached data are normalised in the same way. Normalising twice changes nothing more.
 * @returns `''` for a path longer than any URL.
 */
export function revalidationTarget(target: string): string {
  if (!target.startsWith('/')) return shortened(target)
  if (!target.endsWith('/*')) return revalidationPath(target)
  return revalidationPath(target.slice(0, -1)).replace(/(?!^$)\/?$/, '/*')
}

/** Encodes asterisks too, because a bare one is a wildcard. A segment that cannot be encoded matches no page. */
function inOneForm(segment: string): string {
  return shortened(encodeSegment((decodeSegment(segment) ?? segment).toWellFormed()).replaceAll('*', '%2A'))
}

/**
 * Replaces a long text with a hash that browsers compute at once. Two texts can be made to share one: then a drop of one
 * drops the other too, and never less than it names.
 */
function shortened(text: string): string {
  if (text.length <= LONGEST_NAME) return text
  let hash = 0
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash, 31) ^ text.charCodeAt(at)
  return `~${hash}`
}
