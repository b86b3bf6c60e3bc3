/**
 * Keeps pages from holding the event loop: each turn of the loop lets a batch of them go, and what comes beyond it waits
 * for the next turns, so that connections are read and health is answered in between. The batch follows what a turn costs:
 *
 * | a turn with a full batch lasted | the next batch                  |
 * |---------------------------------|---------------------------------|
 * | less than half of `TURN_MS`     | twice as many, `MOST_A_TURN` at most |
 * | more than `TURN_MS`             | half as many, 1 at least        |
 *
 * Those who have their data go first: it fills memory while they wait. Then documents, data, and guesses. Who has waited
 * too long is refused: their visitor has given up, or asks again. Bounded by the places of `admission.ts`, of which
 * everyone here holds one.
 */
import { LIMIT_MS } from './load-shedding.ts'
import { REQUEST_CLASSES, type RequestClass } from './request-class.ts'

const TURN_MS = 25
const MOST_A_TURN = 16
/**
 * After a batch the event loop goes round once for each millisecond that it took, up to so many times: each time round it
 * accepts one connection, and only one (libuv since 1.47). Going round for nothing costs some microseconds.
 */
const MOST_ROUNDS = 50
/** Shedding starts at the limit of a class and needs some seconds to settle; only what it was too slow for ends here. */
const DEADLINE_LIMITS = 10

/** How a wait for a turn ends. `late`: too late, nothing is to be done for it any more. */
export type Turn = 'now' | 'late'

/** Somebody who asks for a turn. */
export interface TurnRequest {
  readonly requestClass: RequestClass
  /** Its loaders are done. */
  readonly loaded?: boolean
  /** Whether nobody waits for the answer any more. */
  isGone(): boolean
}

/** The order in which pages get the event loop. */
export interface RenderTurns {
  /**
   * Asks for a turn; the work is to begin behind it without another wait.
   * @returns `'now'` at once while this turn of the loop has room and nobody waits.
   */
  take(request: TurnRequest): Turn | Promise<Turn>
  /** Another one in each turn of the event loop in which somebody has asked, and between those. */
  readonly number: number
  /** Milliseconds that somebody has waited at most, since it was last asked. */
  longestWaitMs(): number
  /** Pages that wait for their turn. */
  readonly waiting: number
}

/** What turns are made of, for tests. */
export interface TurnClock {
  /** Milliseconds, on any clock that never goes back. */
  readonly now: () => number
  /** Calls back in the next turn of the event loop, behind what it has read. */
  readonly nextTurn: (run: () => void) => void
  /** Calls back in the same turn, behind all that needs nothing but promises to go on. */
  readonly afterwards: (run: () => void) => void
}

interface Waiting {
  readonly since: number
  readonly request: TurnRequest
  readonly resolve: (turn: Turn) => void
}

interface Queue {
  readonly deadlineMs: number
  /** From `head` on. */
  waiting: Waiting[]
  head: number
}

const SYSTEM_CLOCK: TurnClock = {
  now: () => performance.now(),
  nextTurn: (run) => void setImmediate(run),
  // A tick that is asked for in a tick comes before the promises that wait.
  afterwards: (run) => queueMicrotask(() => process.nextTick(run)),
}

/**
 * Nobody waits at first.
 * @param clock the process's own, where nothing else is said.
 */
export function createRenderTurns(clock: Partial<TurnClock> = {}): RenderTurns {
  const { now, nextTurn, afterwards } = { ...SYSTEM_CLOCK, ...clock }
  const loaded = createQueue('document')
  const byClass = Object.fromEntries(REQUEST_CLASSES.map((name) => [name, createQueue(name)])) as unknown as Readonly<
    Record<RequestClass, Queue>
  >
  const queues = [loaded, byClass.document, byClass.data, byClass.prefetch]
  let startedAt: number | undefined
  let number = 0
  let batch = MOST_A_TURN
  let granted = 0
  let waiting = 0
  let longest = 0

  return {
    take(request) {
      const at = now()
      if (startedAt === undefined) begin(at)
      if (waiting === 0 && hasRoom(at)) {
        granted += 1
        return 'now'
      }
      waiting += 1
      const queue = request.loaded === true ? loaded : byClass[request.requestClass]
      return new Promise((resolve) => queue.waiting.push({ since: at, request, resolve }))
    },
    get number() {
      return number
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

  function hasRoom(at: number): boolean {
    return startedAt !== undefined && granted < batch && at - startedAt < TURN_MS
  }

  function begin(at: number): void {
    startedAt = at
    number += 1
    granted = 0
    nextTurn(() => {
      const lastedMs = now() - at
      adapt(lastedMs)
      number += 1
      rest(Math.min(MOST_ROUNDS, Math.floor(lastedMs)))
    })
  }

  /** Lets the event loop go round so many times, if anybody waits, before the next batch. */
  function rest(rounds: number): void {
    if (waiting === 0) {
      startedAt = undefined
    } else if (rounds > 0) {
      nextTurn(() => rest(rounds - 1))
    } else {
      begin(now())
      letGo()
    }
  }

  /** One page after the other: of those that go together, the data of all would be in memory before the first is done. */
  function letGo(): void {
    const next = granted < batch ? shift(now()) : undefined
    if (next === undefined) return
    granted += 1
    next.resolve('now')
    afterwards(letGo)
  }

  function adapt(lastedMs: number): void {
    if (lastedMs > TURN_MS) batch = Math.max(1, Math.floor(batch / 2))
    else if (lastedMs < TURN_MS / 2 && granted >= batch) batch = Math.min(MOST_A_TURN, batch * 2)
  }

  /** The next who is still in time; those before are told. */
  function shift(at: number): Waiting | undefined {
    for (const queue of queues) {
      for (let next = take(queue); next !== undefined; next = take(queue)) {
        waiting -= 1
        longest = Math.max(longest, at - next.since)
        if (!next.request.isGone() && at - next.since <= queue.deadlineMs) return next
        next.resolve('late')
      }
    }
    return undefined
  }
}

function createQueue(requestClass: RequestClass): Queue {
  return { deadlineMs: LIMIT_MS[requestClass] * DEADLINE_LIMITS, waiting: [], head: 0 }
}

/** Takes the first; the rest is moved up only once in a while. */
function take(queue: Queue): Waiting | undefined {
  const first = queue.waiting[queue.head]
  if (first === undefined) return undefined
  queue.head += 1
  if (queue.head * 2 > queue.waiting.length) {
    queue.waiting = queue.waiting.slice(queue.head)
    queue.head = 0
  }
  return first
}
