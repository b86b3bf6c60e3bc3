import { createHash, hash } from 'node:crypto'

const TAG_LENGTH = 22 // base64url digits, at least 128 bits: no two documents share a tag
const ONE_PIECE = 16_384 // characters; beyond that, joining strings costs more than hashing them one by one

/** The last document of one piece: most pages are the same for the next visitor, and to compare costs less than to hash. */
const last = { text: '', digest: '' }

/**
 * The weak ETag of a document: equal for equal content, on every instance, whatever the nonce and the encoding. A
 * cryptographic hash, because visitors write parts of documents: with a checksum they could make a changed page look
 * unchanged. Without a key, so that instances agree.
 * @param html React's HTML, without nonces.
 * @param rest the runtime's additions to this document, without nonces.
 * @param build names the additions that all documents share.
 */
export function documentTag(html: string, rest: string, build: string): string {
  // Lengths first, so that no text can pass for the beginning of the next.
  const head = `${build.length} ${html.length} ${build}`
  // A text at once: a buffer for the digest costs more than hashing a small document.
  const digest =
    html.length + rest.length < ONE_PIECE
      ? digestOf(head + html + rest)
      : createHash('sha256').update(head).update(html).update(rest).digest('base64url')
  return `W/"${digest.slice(0, TAG_LENGTH)}"`
}

function digestOf(text: string): string {
  if (text === last.text) return last.digest
  const digest = hash('sha256', text, 'base64url')
  Object.assign(last, { text, digest })
  return digest
}

/** Whether `If-None-Match` names the tag; weak comparison (RFC 9110, section 8.8.3.2). */
export function matchesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false
  if (header.trim() === '*') return true
  return header.split(',').some((known) => known.trim().replace(/^W\//, '') === tag.slice(2))
}
