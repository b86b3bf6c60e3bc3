/**
 * What the bodies of calls may hold in memory, all together and of one client. One by one they are bounded by their own
 * limits, and by the slowest rate that is waited for; but thousands of connections may each send almost all of a body and
 * then take minutes for the rest. Bodies on their way and bodies whose handlers run count apart: slow handlers keep nobody
 * from sending.
 */
import { createShares } from '../shares.ts'
import { BodyError } from './body-error.ts'

/** Of all bodies of a process. A server that holds more of them has a few that matter and many that want to fill it. */
const MOST_HELD_BYTES = 67_108_864
/** Or so many bodies of the largest size that has been asked for, where one is large: two of these keep no others away. */
const LARGEST_BODIES = 4
/** Of each body, and not counted: what people type is taken even where somebody else has filled the rest. */
const FREE_BYTES = 4_096
/** Times as much may be held by calls whose handlers run: these have been let in, and cost their senders a place each. */
const RUNNING_TIMES = 3

/** What one body holds. */
export interface HeldBody extends Disposable {
  /**
   * Holds more.
   * @throws {BodyError} 503 where all together hold too much, or the client does.
   */
  hold(bytes: number): void
  /**
   * The body is whole, and its handler begins: from now on it counts among those.
   * @throws {BodyError} as `hold`.
   */
  run(): void
}

/** Counts what bodies hold. */
export interface HeldBodies {
  /**
   * Begins a body; to be disposed of when nothing of it is needed any more.
   * @param largest bytes that it may have.
   * @param client as `clientKey` names it.
   */
  open(largest: number, client: string): HeldBody
}

/** Nothing is held yet. @param most bytes of all bodies on their way, where none is large; for tests. */
export function createHeldBodies(most = MOST_HELD_BYTES): HeldBodies {
  let bound = most
  const coming = createShares({ most: () => bound })
  const running = createShares({ most: () => bound * RUNNING_TIMES })
  return {
    open(largest, client) {
      bound = Math.max(bound, largest * LARGEST_BODIES)
      let shares = coming
      let received = 0
      let counted = 0
      const take = (bytes: number): void => {
        if (bytes > 0 && shares.take(client, bytes) !== undefined) {
          throw new BodyError(503, 'Too many large bodies at once')
        }
        counted += bytes
      }
      const leave = (): void => {
        if (counted > 0) shares.give(client, counted)
        counted = 0
      }
      return {
        hold(bytes) {
          received += bytes
          take(Math.max(0, received - FREE_BYTES) - counted)
        },
        run() {
          leave()
          shares = running
          take(Math.max(0, received - FREE_BYTES))
        },
        [Symbol.dispose]: leave,
      }
    },
  }
}
