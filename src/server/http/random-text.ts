import { randomFillSync } from 'node:crypto'

/**
 * Whole groups of the encoding, so that the texts of a pool stand side by side in its text, with no padding between them.
 * 128 bits are what the CSP specification asks of a nonce, and what an id needs to be the only one.
 */
const BYTES = { base64: 18, hex: 16 } as const
/** One system call for that many requests. A text that is kept keeps the others of its fill. */
const TEXTS_PER_FILL = 64

/** Gives texts of 128 random bits at least, each once. */
export type RandomText = () => string

/** A source with a pool of its own. */
export function createRandomText(encoding: keyof typeof BYTES): RandomText {
  const pool = Buffer.alloc(BYTES[encoding] * TEXTS_PER_FILL)
  const length = pool.toString(encoding).length / TEXTS_PER_FILL
  let text = ''
  let at = 0
  return () => {
    if (at === text.length) {
      text = randomFillSync(pool).toString(encoding)
      at = 0
    }
    const next = text.slice(at, at + length)
    at += length
    return next
  }
}
