import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'

const KEY_BYTES = 32 // for HMAC-SHA256 and AES-256-GCM
const MOST_PURPOSES = 500 // purposes are constants, so there are few; this bounds code that computes them

/** What a derived key is for, so that a signature can never pass as a ciphertext. */
type KeyUse = 'sign' | 'encrypt'

/** Keys derived from the server's secret keys, one set for each use and purpose. */
export interface KeyRing {
  /**
   * One derived key for each secret key, in order: the first signs and encrypts, all verify and decrypt.
   * @param purpose at most 900 bytes.
   */
  keysFor(use: KeyUse, purpose: string): readonly KeyObject[]
}

/**
 * Derives keys by HKDF-SHA256 (RFC 5869): `info` contains version, use and purpose, so that a text made for one purpose
 * is invalid for another. Keeps the derived keys of up to 500 purposes.
 * @throws {RangeError} without keys, and for an empty key.
 */
export function createKeyRing(secretKeys: readonly string[]): KeyRing {
  if (secretKeys.length === 0) throw new RangeError('At least one secret key is required')
  if (secretKeys.includes('')) throw new RangeError('A secret key is empty')
  const derived = new Map<string, readonly KeyObject[]>()

  return {
    keysFor(use, purpose) {
      const info = `millrace v1 ${use} ${purpose}`
      const known = derived.get(info)
      if (known !== undefined) return known
      const keys = secretKeys.map((key) =>
        createSecretKey(Buffer.from(hkdfSync('sha256', key, new Uint8Array(), info, KEY_BYTES))),
      )
      if (derived.size >= MOST_PURPOSES) derived.clear()
      derived.set(info, keys)
      return keys
    },
  }
}
