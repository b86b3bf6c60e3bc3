import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'

/** 0 to below 1. */
export type Random = () => number

/**
 * A generator of pseudo-random numbers, repeatable by its seed.
 * @param seed a whole number; its lower 32 bits count.
 */
export function seededRandom(seed: number): Random {
  const generator = xoroshiro128plus(seed)
  return () => uniformFloat64(generator)
}
