/**
 * What the bodies of calls may hold in memory, all together. One by one they are bounded by their own limits, and by the
 * slowest rate that is waited for; but thousands of connections may each send almost all of a body and then take minutes
 * for the rest.
 */
import { BodyError } from './body-error.ts'

/** Of all bodies of a process. A server that holds more of them has a few that matter and many that want to fill it. */
const MOST_HELD_BYTES = 67_108_864
/** Or so many bodies of the largest size that has been asked for, where one is large: two of these keep no others away. */
const LARGEST_BODIES = 4
/** Of each body, and not counted: what people type is taken even where somebody else has filled the rest. */
const FREE_BYTES = 16_384

/** What one body holds. */
export interface HeldBody extends Disposable {
  /**
   * Holds more.
   * @throws {BodyError} 503 where all together hold too much.
   */
  hold(bytes: number): void
}

/** Counts what bodies hold. */
export interface HeldBodies {
  /**
   * Begins a body; to be disposed of when nothing of it is needed any more.
   * @param largest bytes that it may have.
   */
  open(largest: number): HeldBody
}

/** Nothing is held yet. @param most bytes of all bodies, where none is large; for tests. */
export function createHeldBodies(most = MOST_HELD_BYTES): HeldBodies {
  const all = { bytes: 0, bound: most }
  return {
    open(largest) {
      all.bound = Math.max(all.bound, largest * LARGEST_BODIES)
      let received = 0
      let counted = 0
      const count = (bytes: number): void => {
        all.bytes += bytes - counted
        counted = bytes
      }
      return {
        hold(bytes) {
          received += bytes
          count(Math.max(0, received - FREE_BYTES))
          if (counted > 0 && all.bytes > all.bound) throw new BodyError(503, 'Too many large bodies at once')
        },
        [Symbol.dispose]: () => count(0),
      }
    },
  }
}
