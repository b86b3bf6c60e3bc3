import { randomFillSync } from 'node:crypto'

/**
 * Bytes per text: multiples of the encoding's group size, so that texts follow each other in the pool without padding.
 * The CSP specification asks for 128 bits in a nonce, and that makes an id unique.
 */
const BYTES = { base64: 18, hex: 16 } as const
/** One system call fills this many. A retained text retains all others of its fill. */
const TEXTS_PER_FILL = 64

/** Returns a unique text of at least 128 random bits. */
export type RandomText = () => string

/** A generator with its own pool. */
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
