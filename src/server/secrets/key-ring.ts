import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'

const KEY_BYTES = 32 // of HMAC-SHA256 and AES-256-GCM alike
const MOST_PURPOSES = 500 // purposes stand in code, so there are a few; this bounds those who make them up at run time

/** What a derived key is for: the same text can never be taken for a signature and for a ciphertext. */
export type KeyUse = 'sign' | 'encrypt'

/** Keys derived from the server's secret keys, one set a use and purpose. */
export interface KeyRing {
  /**
   * One key for each secret key, in their order: the first makes new texts, all of them read.
   * @param purpose at most 900 bytes.
   */
  keysFor(use: KeyUse, purpose: string): readonly KeyObject[]
}

/**
 * Derives keys by HKDF-SHA256 (RFC 5869): `info` names version, use and purpose, so that a text made for one purpose is
 * worth nothing for another. Derived keys are kept, those of 500 purposes at most.
 * @throws {RangeError} without keys, and for an empty key.
 */
export function createKeyRing(secretKeys: readonly string[]): KeyRing {
  if (secretKeys.length === 0) throw new RangeError('There is no secret key')
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
