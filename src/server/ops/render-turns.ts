/**
 * Keeps renders from holding the event loop: a turn of the loop renders for `TURN_MS`, `MOST_A_TURN` at most, and what is
 * ready then waits for the next ones, so that connections are read and health is answered in between. Who has waited too long is refused:
 * their visitor has given up, or asks again. Bounded by the places of `admission.ts`, of which everyone here holds one.
 */
import { LIMIT_MS } from './load-shedding.ts'
import { REQUEST_CLASSES, type RequestClass } from './request-class.ts'

const TURN_MS = 25
/** React does the work of a stream a moment later, where the clock does not see it. */
const MOST_A_TURN = 16
/** Shedding starts at the limit of a class and needs some seconds to settle; only what it was too slow for ends here. */
const DEADLINE_LIMITS = 3

/** How a wait for a turn ends. `late`: too late, nothing is to be rendered any more. */
export type Turn = 'now' | 'late'

/** The order in which renders get the event loop. */
export interface RenderTurns {
  /**
   * Asks for a turn; what is to be rendered must begin in the very continuation.
   * @param isGone whether nobody waits for the answer any more.
   * @returns `'now'` at once while this turn of the loop has time left and nobody waits.
   */
  take(requestClass: RequestClass, isGone: () => boolean): Turn | Promise<Turn>
  /** Milliseconds that somebody has waited at most, since it was last asked. */
  longestWaitMs(): number
  /** Renders that wait for their turn. */
  readonly waiting: number
}

interface Waiting {
  readonly since: number
  readonly isGone: () => boolean
  readonly resolve: (turn: Turn) => void
}

/** What turns are made of, for tests. */
export interface TurnClock {
  /** Milliseconds, on any clock that never goes back. */
  readonly now: () => number
  /** Calls back in the next turn of the event loop, behind what it has read. */
  readonly nextTurn: (run: () => void) => void
}

const SYSTEM_CLOCK: TurnClock = { now: () => performance.now(), nextTurn: (run) => void setImmediate(run) }

/** Nobody waits at first. */
export function createRenderTurns({ now, nextTurn }: TurnClock = SYSTEM_CLOCK): RenderTurns {
  // Documents go first, guesses last.
  const queues = REQUEST_CLASSES.toReversed().map((requestClass) => ({
    deadlineMs: LIMIT_MS[requestClass] * DEADLINE_LIMITS,
    requestClass,
    waiting: [] as Waiting[],
    head: 0,
  }))
  let startedAt: number | undefined
  let granted = 0
  let waiting = 0
  let longest = 0

  return {
    take(requestClass, isGone) {
      const at = now()
      if (startedAt === undefined) begin(at)
      if (waiting === 0 && hasTime(at)) {
        granted += 1
        return 'now'
      }
      waiting += 1
      return new Promise((resolve) => {
        queues.find((queue) => queue.requestClass === requestClass)?.waiting.push({ since: at, isGone, resolve })
      })
    },
    longestWaitMs() {
      const at = now()
      const oldest = queues.map(({ waiting, head }) => (waiting[head] === undefined ? 0 : at - waiting[head].since))
      const most = Math.max(longest, ...oldest)
      longest = 0
      return most
    },
    get waiting() {
      return waiting
    },
  }

  function hasTime(at: number): boolean {
    return startedAt !== undefined && at - startedAt < TURN_MS && granted < MOST_A_TURN
  }

  function begin(at: number): void {
    startedAt = at
    granted = 0
    nextTurn(() => {
      startedAt = undefined
      if (waiting === 0) return
      begin(now())
      release()
    })
  }

  /** Lets one go, and the next behind its render, as long as the turn has time. */
  function release(): void {
    const next = shift()
    if (next === undefined) return
    granted += 1
    next.resolve('now')
    // The render runs in the continuation that this has just put in line.
    queueMicrotask(() => {
      if (hasTime(now())) release()
    })
  }

  /** The next who is still in time; those before are told. */
  function shift(): Waiting | undefined {
    const at = now()
    for (const queue of queues) {
      for (let next = queue.waiting[queue.head]; next !== undefined; next = queue.waiting[queue.head]) {
        queue.head += 1
        waiting -= 1
        if (queue.head > queue.waiting.length / 2) {
          queue.waiting.splice(0, queue.head)
          queue.head = 0
        }
        longest = Math.max(longest, at - next.since)
        if (!next.isGone() && at - next.since <= queue.deadlineMs) return next
        next.resolve('late')
      }
    }
    return undefined
  }
}
