/** Hash of a text in chunks. Detects changed content; does not resist deliberate collisions. */
export interface TextHash {
  /** Takes the next chunk; the splits do not matter. */
  add(text: string): void
  /** Hash of all chunks so far: an integer of 53 bits, which a number can represent exactly. */
  value(): number
}

// Odd, so that multiplying loses nothing, with about as many ones as zeros, so that it spreads every bit upwards.
const SPREAD_HIGH = 0x9e3779b1
const SPREAD_LOW = 0x85ebca77

/** Starts the hash of a text: two multiplicative hashes of 32 bits, of which 21 and 32 are kept. */
export function createTextHash(): TextHash {
  let high = SPREAD_LOW
  let low = SPREAD_HIGH
  return {
    add(text) {
      for (let index = 0; index < text.length; index += 1) {
        const unit = text.charCodeAt(index)
        high = Math.imul(high ^ unit, SPREAD_HIGH)
        low = Math.imul(low ^ unit, SPREAD_LOW)
      }
    },
    value: () => (high >>> 11) * 2 ** 32 + (low >>> 0),
  }
}
