/**
 * Keeps requests that are answered at once, such as those for pages that are kept, from holding the event loop: of those
 * that one turn of it reads, `MOST_A_TURN` begin at once, or as many as fit into `TURN_MS`, and the others wait, for as many
 * in each of the next turns. Clients take turns. Requests that need a turn to render wait for that in a line of their own,
 * where the load is judged, so they must get there soon.
 *
 * Node reads 1,024 connections before it looks at timers and `setImmediate`, and 1,024 again, up to 48 times, if all of them
 * had sent something (libuv, `uv__io_poll`). Of one connection it reads 64 KiB, which may be 1,900 pipelined requests. So a
 * client that asks again as soon as it is answered could keep everything that waits for its turn, or for a time to pass,
 * waiting for seconds. One that waits for its answer cannot ask again.
 *
 * Bounded by the connections, whose requests start one after the other (`request-queue.ts`).
 */
import { EVENT_LOOP, type EventLoop } from '../../http/event-loop.ts'
import { createFairQueue } from '../../http/fair-queue.ts'

const TURN_MS = 40 // a batch of pages takes 25, and of its requests some are let in meanwhile
const MOST_A_TURN = 128 // at 0.1 ms each
/**
 * After a full turn, the event loop goes round this many times before the next who wait begin, for as long again at most: each
 * round accepts one connection, and only one (libuv since 1.47). Otherwise a flood on open connections would keep newcomers out.
 */
const LEAST_ROUNDS = 10
/** And this many times as long as connections come, of which each needs some rounds to be accepted and read. */
const MOST_ROUNDS = 64
const ROUNDS_OF_NEWCOMER = 4
/**
 * So many in a turn are a flood, too, if connections come: a proxy that keeps 64 connections open makes a new one for each
 * request beyond them, and those wait in one line, whoever they are of.
 */
const MANY_A_TURN = 16

/** The order in which requests begin. */
export interface EntryTurns {
  /**
   * @param client as `clientKey` names it; called if it has to wait.
   * @param isNewcomer whether it is the first of its connection.
   * @returns `undefined` at once while this turn of the event loop has time for it and nobody waits.
   */
  take(client: () => string, isNewcomer: boolean): Promise<void> | undefined
}

/** Nobody waits at first. */
export function createEntryTurns({ now, nextTurn, afterwards }: EventLoop = EVENT_LOOP): EntryTurns {
  const queue = createFairQueue<() => void>()
  let waiting = 0
  let startedAt: number | undefined
  /** Those that have begun in this turn. */
  let begun = 0
  /** Rounds since the turn; `undefined` during it. */
  let round: number | undefined
  /** The last round that had one. */
  let newcomerAt: number | undefined

  function begin(at: number): void {
    startedAt = at
    begun = 0
    newcomerAt = round = undefined
    nextTurn(end)
  }

  function end(): void {
    const isFlood = begun >= MANY_A_TURN && newcomerAt !== undefined
    if (waiting > 0 || isFlood) rest(0, now() + TURN_MS)
    else startedAt = undefined
  }

  function rest(rounds: number, until: number): void {
    round = rounds
    const at = now()
    const mostRounds = Math.max(LEAST_ROUNDS, Math.min(MOST_ROUNDS, (newcomerAt ?? 0) + ROUNDS_OF_NEWCOMER))
    if (rounds < mostRounds && at < until) return nextTurn(() => rest(rounds + 1, until))
    begin(at)
    letGo(at)
  }

  function letGo(since: number): void {
    const client = begun < MOST_A_TURN && now() - since < TURN_MS ? queue.nextBut() : undefined
    if (client === undefined) return
    begun += 1
    waiting -= 1
    queue.take(client)?.()
    afterwards(() => letGo(since))
  }

  return {
    take(client, isNewcomer) {
      const at = now()
      if (startedAt === undefined) begin(at)
      if (isNewcomer) newcomerAt = round ?? 0
      if (round === undefined && waiting === 0 && begun < MOST_A_TURN && at - (startedAt ?? at) < TURN_MS) {
        begun += 1
        return undefined
      }
      waiting += 1
      return new Promise((go) => queue.add(client(), go))
    },
  }
}
