import { decodeSegment, encodeSegment } from './route-segment.ts'

/** What has one way to be written, and is worth no more than a look: most paths. */
const PLAIN = /^(?:\/[\w.~-]+)+$/

/**
 * A page's path in the one form in which `revalidate` compares it, whoever wrote it: a hand, `href()`, or the browser. Each
 * segment is decoded and encoded again; query, fragment, and slashes that no page's path has are left out.
 */
export function revalidationPath(path: string): string {
  if (PLAIN.test(path)) return path
  const segments = path.replace(/[?#].*/s, '').split('/')
  return `/${segments.filter(Boolean).map(inOneForm).join('/')}`
}

/** A target of `revalidate` in the same form: a path, a path with `/*` and all below it, or a tag, which has one form. */
export function revalidationTarget(target: string): string {
  if (!target.startsWith('/')) return target
  if (!target.endsWith('/*')) return revalidationPath(target)
  return revalidationPath(target.slice(0, -1)).replace(/\/?$/, '/*')
}

/** With its asterisks encoded: a bare one is no part of a path. What cannot be encoded names no page. */
function inOneForm(segment: string): string {
  return encodeSegment((decodeSegment(segment) ?? segment).toWellFormed()).replaceAll('*', '%2A')
}
