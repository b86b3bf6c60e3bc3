import { randomFillSync } from 'node:crypto'

const BYTES = 16 // 128 bits: what the CSP specification asks of a nonce, and what an id needs to be the only one
const TEXTS_PER_FILL = 256 // one system call for that many requests

/** Gives texts of 128 random bits, each once. */
export type RandomText = () => string

/** A source with a pool of its own. */
export function createRandomText(encoding: 'base64' | 'hex'): RandomText {
  const pool = Buffer.alloc(BYTES * TEXTS_PER_FILL)
  let at = pool.length
  return () => {
    if (at === pool.length) {
      randomFillSync(pool)
      at = 0
    }
    const text = pool.toString(encoding, at, at + BYTES)
    at += BYTES
    return text
  }
}
