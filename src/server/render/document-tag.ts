import { hash } from 'node:crypto'

/**
 * The weak ETag of a document: equal for equal content, on every instance, whatever the nonce and the encoding.
 * @param html what React wrote, without nonces.
 * @param rest all that the runtime adds, without nonces.
 */
export function documentTag(html: string, rest: string): string {
  // Apart, because putting two long strings together costs as much as hashing them.
  return `W/"${hash('sha1', html, 'base64url')}${hash('sha1', rest, 'base64url').slice(0, 13)}"`
}

/** Whether `If-None-Match` names the tag; weak comparison (RFC 9110, section 8.8.3.2). */
export function matchesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false
  if (header.trim() === '*') return true
  return header.split(',').some((known) => known.trim().replace(/^W\//, '') === tag.slice(2))
}
