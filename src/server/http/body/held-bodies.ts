/**
 * Limits the memory of all request bodies together, and of each client. Each body has its own size limit and minimum
 * rate, but thousands of connections could each send almost all of a body and then take minutes for the rest. Bodies
 * being received and bodies with a running handler count separately, so that slow handlers block no uploads.
 */
import { createShares } from '../shares.ts'
import { BodyError } from './body-error.ts'

/** For all bodies of a process. Above this, most of the held bodies are there to fill the memory. */
const MOST_HELD_BYTES = 67_108_864
/**
 * The limit rises to this many of the largest body size that was requested, so that two large uploads do not block
 * others.
 */
const LARGEST_BODIES = 4
/** Per body, not counted: small forms are accepted even while other clients have filled the rest. */
const FREE_BYTES = 4_096
/** Factor for calls with a running handler: these are admitted, and each holds one of its client's places. */
const RUNNING_TIMES = 3

/** What one body holds. */
export interface HeldBody extends Disposable {
  /**
   * Adds bytes.
   * @throws {BodyError} 503 if the process or the client holds too many.
   */
  hold(bytes: number): void
  /**
   * The body is complete and its handler starts: it now counts as running.
   * @throws {BodyError} as `hold`.
   */
  run(): void
}

/** Counts the bytes that bodies hold. */
export interface HeldBodies {
  /**
   * Starts a body; dispose of it once its bytes are no longer needed.
   * @param largest maximum bytes of this body.
   * @param client as `clientKey` names it.
   */
  open(largest: number, client: string): HeldBody
}

/** Starts empty. @param most limit of all bodies being received, unless one is large; for tests. */
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
      let isOver = false
      const take = (bytes: number): void => {
        // A handler may read on after its answer; nobody would give these bytes back.
        if (isOver) return
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
        [Symbol.dispose]() {
          leave()
          isOver = true
        },
      }
    },
  }
}
