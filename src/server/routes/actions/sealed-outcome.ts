/**
 * Outcomes of calls at rest. They hold what the visitor alone may have, such as the cookie of a session that the call has
 * started. They are encrypted by the call's key, which only its repetition leads to: the store knows a hash of it.
 */
import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto'

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12 // NIST SP 800-38D
const TAG_BYTES = 16

/** The name of a call in the store. */
export function storedName(key: string): string {
  return hash('sha256', `name ${key}`, 'base64url')
}

/** Encrypts an outcome. */
export function sealOutcome(key: string, text: string): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, cipherKey(key), nonce)
  const sealed = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]
  return Buffer.concat(sealed).toString('base64url')
}

/** The outcome; `undefined` if the text is damaged, or of another key. */
export function openOutcome(key: string, sealed: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64url')
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined
  const decipher = createDecipheriv(CIPHER, cipherKey(key), bytes.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  }).setAuthTag(bytes.subarray(-TAG_BYTES))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString()
  } catch {
    return undefined
  }
}

function cipherKey(key: string): Buffer {
  return hash('sha256', `outcome ${key}`, 'buffer')
}
