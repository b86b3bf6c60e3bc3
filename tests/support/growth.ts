import { expect } from 'vitest'

const SHORT = 4_096
const LONG = 65_536
/** Sixteen times the length: 16 times the time if it is linear, 256 times if it is quadratic. */
const MOST_GROWTH = 100
const RUNS = 5
/** A busy machine stretches one of two times; what is quadratic is so each time. */
const ATTEMPTS = 10

/**
 * Expects that reading a text takes time in proportion to its length, which holds on every machine.
 *
 * @param make Gives, for a text's length in characters, the call that is measured.
 */
export async function expectLinear(make: (length: number) => () => unknown): Promise<void> {
  let growth = Infinity
  for (let attempt = 0; attempt < ATTEMPTS && growth >= MOST_GROWTH; attempt += 1) {
    growth = Math.min(growth, (await leastMs(make(LONG))) / (await leastMs(make(SHORT))))
  }
  expect(growth).toBeLessThan(MOST_GROWTH)
}

async function leastMs(read: () => unknown): Promise<number> {
  const times: number[] = []
  for (let run = 0; run < RUNS; run += 1) {
    const startedAt = performance.now()
    await read()
    times.push(performance.now() - startedAt)
  }
  return Math.max(0.02, Math.min(...times)) // less is mostly the clock's own
}
