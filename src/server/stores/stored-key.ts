import { hash } from 'node:crypto'

const LONGEST_PLAIN_KEY = 100 // characters: a UUID or an address with a prefix fits

/** A key as it is stored: texts of any length take bounded space, and two keys never collide. */
export function storedKey(key: string): string {
  // A short key cannot look like a digest: its first character differs.
  return key.length > LONGEST_PLAIN_KEY ? `#${hash('sha256', key, 'base64url')}` : `=${key}`
}
