import { decodeSegment, encodeSegment } from './route-segment.ts'

/** Paths with only one spelling, which most have. */
const PLAIN = /^(?:\/[\w.~-]+)+$/

/**
 * Normalises a page's path for comparison in `revalidate`, whether written by hand, by `href()`, or by the browser.
 * Each segment is decoded and encoded again; query, fragment, and superfluous slashes are removed.
 */
export function revalidationPath(path: string): string {
  if (PLAIN.test(path)) return path
  const segments = path.replace(/[?#].*/s, '').split('/')
  return `/${segments.filter(Boolean).map(inOneForm).join('/')}`
}

/**
 * Normalises a target of `revalidate`: a path, a path with `/*` for everything below it, or a tag, which is unchanged.
 */
export function revalidationTarget(target: string): string {
  if (!target.startsWith('/')) return target
  if (!target.endsWith('/*')) return revalidationPath(target)
  return revalidationPath(target.slice(0, -1)).replace(/\/?$/, '/*')
}

/** Encodes asterisks too, because a bare one is a wildcard. A segment that cannot be encoded matches no page. */
function inOneForm(segment: string): string {
  return encodeSegment((decodeSegment(segment) ?? segment).toWellFormed()).replaceAll('*', '%2A')
}
