/**
 * Limits the memory of all request bodies together, and of each client. Each body has its own size limit and minimum
 * rate, but thousands of connections could each send almost all of a body and then take minutes for the rest. Bodies
 * being received and bodies with a running handler count separately, so that slow handlers block no uploads.
 *
 * If the bodies being received are at the limit, the client with most of them loses its oldest one to a client with less:
 * a few clients that send slowly would otherwise refuse everybody else's forms.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createByteTurns, type ByteTurns } from '../byte-turns.ts'
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
/** Texts that are made into values in one turn of the event loop: a larger one has a turn for itself. */
const PARSED_BYTES = 131_072
/** A text below this is made into values at once: at most a millisecond. */
const SMALL_TEXT_BYTES = 16_384
/** Factor for calls with a running handler: these are admitted, and each holds one of its client's places. */
const RUNNING_TIMES = 3

/** Counts the memory of a body while it is received. */
export interface BodyMemory {
  /**
   * Adds bytes.
   * @throws {BodyError} 503 if the process or the client holds too many, or if the body has lost its room.
   */
  hold(bytes: number): void
  /**
   * Lets the body lose its room to a client that holds less, until it is complete. One listener.
   * @param stop ends the reading, with this error.
   */
  whenLost(stop: (error: BodyError) => void): void
  /**
   * Waits until a text of this body may be made into values, which takes up to 70 ns a byte: bodies that have arrived together must not
   * hold the event loop together. Clients take turns.
   * @returns `undefined` for a text that need not wait.
   */
  turn(bytes: number): Promise<void> | undefined
}

/** What one body holds. */
export interface HeldBody extends BodyMemory, Disposable {
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

/** A body that may lose its room. */
interface Loser {
  lose(error: BodyError): void
}

/** Starts empty. @param most limit of all bodies being received, unless one is large; for tests. */
export function createHeldBodies(most = MOST_HELD_BYTES): HeldBodies {
  let bound = most
  const coming = createShares({ most: () => bound })
  const running = createShares({ most: () => bound * RUNNING_TIMES })
  const parsing = createByteTurns(PARSED_BYTES)
  /** Those of a client, the oldest first. */
  const losers = new Map<string, Set<Loser>>()

  function enlist(client: string, loser: Loser): void {
    const own = losers.get(client)
    if (own === undefined) losers.set(client, new Set([loser]))
    else own.add(loser)
  }

  function dismiss(client: string, loser: Loser): void {
    const own = losers.get(client)
    if (own?.delete(loser) === true && own.size === 0) losers.delete(client)
  }

  /** @returns whether a client that held more than this has lost a body. */
  function loseOldest(held: number): boolean {
    let greediest: Set<Loser> | undefined
    let most = held
    for (const [client, bodies] of losers) {
      if (coming.of(client) <= most) continue
      most = coming.of(client)
      greediest = bodies
    }
    const [oldest] = greediest ?? []
    oldest?.lose(tooMany())
    return oldest !== undefined
  }

  /** Takes bytes of a body being received. @returns whether there was room. */
  function receive(client: string, bytes: number): boolean {
    let refusal = coming.take(client, bytes)
    while (refusal === 'full' && loseOldest(coming.of(client) + bytes)) refusal = coming.take(client, bytes)
    return refusal === undefined
  }

  return {
    open(largest, client) {
      bound = Math.max(bound, largest * LARGEST_BODIES)
      let isComing = true
      let received = 0
      let counted = 0
      let isOver = false
      let lost: BodyError | undefined
      let stop: ((error: BodyError) => void) | undefined
      const take = (bytes: number): void => {
        if (lost !== undefined) throw lost
        // A handler may read on after its answer; nobody would give these bytes back.
        if (isOver) return
        if (bytes > 0) {
          const isTaken = isComing ? receive(client, bytes) : running.take(client, bytes) === undefined
          if (!isTaken) throw tooMany()
        }
        counted += bytes
        if (isComing && counted > 0 && stop !== undefined) enlist(client, loser)
      }
      const leave = (): void => {
        if (counted > 0) (isComing ? coming : running).give(client, counted)
        counted = 0
        dismiss(client, loser)
      }
      const loser: Loser = {
        lose(error) {
          lost = error
          leave()
          stop?.(error)
        },
      }
      return {
        hold(bytes) {
          received += bytes
          take(Math.max(0, received - FREE_BYTES) - counted)
        },
        whenLost(listener) {
          stop = listener
        },
        turn: (bytes) => (bytes < SMALL_TEXT_BYTES ? undefined : turnOf(parsing, client, bytes)),
        run() {
          leave()
          isComing = false
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

/** Resolves when it begins; it lasts until the event loop has gone on. */
function turnOf(turns: ByteTurns, client: string, bytes: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  void turns.run(client, bytes, () => {
    resolve()
    return nextTurn()
  })
  return promise
}

function tooMany(): BodyError {
  return new BodyError(503, 'Too many large bodies at once')
}
