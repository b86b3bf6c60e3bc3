import { randomFillSync } from 'node:crypto'

const NONCE_BYTES = 16 // 128 bits: what the CSP specification asks for
const NONCES_PER_FILL = 256 // one system call for that many documents

/** Gives nonces of 128 random bits for the Content-Security-Policy, each once. */
export type NonceSource = () => string

/** A source with a pool of its own. */
export function createNonceSource(): NonceSource {
  const pool = Buffer.alloc(NONCE_BYTES * NONCES_PER_FILL)
  let at = pool.length
  return () => {
    if (at === pool.length) {
      randomFillSync(pool)
      at = 0
    }
    const nonce = pool.toString('base64', at, at + NONCE_BYTES)
    at += NONCE_BYTES
    return nonce
  }
}
