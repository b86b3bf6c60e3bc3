import { crc32 } from 'node:zlib'

/**
 * The weak ETag of a document: equal for equal content, on every instance, whatever the nonce and the encoding. Two
 * checksums and a length, not a cryptographic hash: nobody gains by a collision, a chance one is one in four thousand
 * million even where data and page do not change together, and hashing took 6 % of the time of a large page.
 * @param html what React wrote, without nonces.
 * @param rest what the runtime adds to this one, without nonces.
 * @param before checksum of what it adds to all of them.
 */
export function documentTag(html: string, rest: string, before = 0): string {
  return `W/"${html.length.toString(36)}-${crc32(html).toString(36)}-${crc32(rest, before).toString(36)}"`
}

/** Whether `If-None-Match` names the tag; weak comparison (RFC 9110, section 8.8.3.2). */
export function matchesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false
  if (header.trim() === '*') return true
  return header.split(',').some((known) => known.trim().replace(/^W\//, '') === tag.slice(2))
}
