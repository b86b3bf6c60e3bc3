/**
 * Keeps pages, calls and handlers from blocking the event loop: each turn of the loop starts `MOST_A_TURN` of them, or as
 * many as begin within `TURN_MS`, and the rest waits for the next turns, so that connections are read and health checks
 * answered in between. What else a turn of the loop does, such as pages that are kept and need no turn, does not count: a
 * client with many connections could keep all who wait from their turns by it.
 *
 * Pages whose data is loaded go first, because it fills memory while they wait; then documents, data, and prefetches. But of
 * four turns, one is for data that waits, and of sixteen, one for prefetches: two clients with many documents would keep
 * the clicks of all others waiting. Within each of these, clients take turns, and no client has two
 * turns in a row while another one waits: a client with many requests delays only itself. A page for which several clients
 * wait is in the line of each. Pages and calls that have waited too long are refused: their visitor has given up, or
 * retries. Handlers, pages that show what a call has done, and rules for a request with a long head run however late it is.
 * Bounded by the places of `admission.ts`, for handlers by those of `admitResource`, and for long heads by the connections.
 */
import { EVENT_LOOP, type EventLoop } from '../../http/event-loop.ts'
import { createFairQueue, type FairQueue } from '../../http/fair-queue.ts'
import { LIMIT_MS } from './load-shedding.ts'
import { REQUEST_CLASSES, type RequestClass } from './request-class.ts'

const TURN_MS = 25
const MOST_A_TURN = 16
/**
 * After a batch the event loop turns once for each millisecond that the batch took, up to this many times: each turn
 * accepts one connection, and only one (libuv since 1.47). An idle turn costs some microseconds. It ends earlier when it has
 * lasted as long as the batch: if other work fills each turn, pages would wait for all of it.
 */
const MOST_ROUNDS = 50
/**
 * Shedding starts at the limit of a class and needs some seconds to settle; this catches the pages that it was too slow
 * for.
 */
const DEADLINE_LIMITS = 10

/** Result of waiting for a turn. `late`: too late, the page must be refused. */
export type Turn = 'now' | 'late'

/** A request for a turn. */
export interface TurnRequest {
  readonly requestClass: RequestClass
  /** As `clientKey` names it. */
  readonly client: string
  /** Calls back with each client that waits for the same, now and later. */
  readonly followClients?: ((listener: (client: string) => void) => void) | undefined
  /** Its loaders are done. */
  readonly loaded?: boolean
  /** Whether it is answered however late it is; it then does not count for `waits`. */
  readonly isDue?: boolean
  /** Whether nobody waits for the answer any more. */
  isGone(): boolean
}

/** How long requests wait for their turns, in milliseconds. */
export interface TurnWaits {
  /** Of any request. Most of it may be for others of the same client. */
  readonly longestMs: number
  /** Of the first in line of any client, since it was the first: what a visitor waits who has asked for nothing else. */
  readonly gapMs: number
}

/** The order in which pages get the event loop. */
export interface RenderTurns {
  /**
   * Requests a turn; start the work synchronously after it.
   * @returns `'now'` at once while this turn of the loop has room and nobody waits.
   */
  take(request: TurnRequest): Turn | Promise<Turn>
  /** Changes with each turn of the event loop in which a page was admitted, and between them. */
  readonly number: number
  /** Longest waits since the last call. */
  waits(): TurnWaits
  /** Requests that wait for their turn. */
  readonly waiting: number
}

interface Waiting {
  readonly since: number
  /** Longest wait. */
  readonly deadlineMs: number
  readonly request: TurnRequest
  readonly resolve: (turn: Turn) => void
  /** It had its turn, and may still be in the lines of other clients. */
  isOver: boolean
}

/**
 * Starts empty.
 * @param clock default: the process's own.
 */
export function createRenderTurns(clock: Partial<EventLoop> = {}): RenderTurns {
  const { now, nextTurn, afterwards } = { ...EVENT_LOOP, ...clock }
  const line = createLine()
  let startedAt: number | undefined
  /** When the requests that had waited had done their part of this turn: the rest of it is for others. */
  let workedUntil: number | undefined
  let number = 1 // 0 is that of a request that has had no turn
  let granted = 0
  let waiting = 0
  let longest: TurnWaits = { longestMs: 0, gapMs: 0 }
  /** Client that had the last turn. */
  let lastClient: string | undefined

  return {
    take(request) {
      const at = now()
      if (startedAt === undefined) begin(at)
      if (waiting === 0 && hasRoom(at)) {
        granted += 1
        workedUntil = undefined
        lastClient = request.client
        return 'now'
      }
      waiting += 1
      return new Promise((resolve) => line.add(request, at, resolve))
    },
    get number() {
      return number
    },
    waits() {
      const most = longerOf(longest, line.waits(now()))
      longest = { longestMs: 0, gapMs: 0 }
      return most
    },
    get waiting() {
      return waiting
    },
  }

  function hasRoom(at: number): boolean {
    return startedAt !== undefined && granted < MOST_A_TURN && at - startedAt < TURN_MS
  }

  function begin(at: number): void {
    startedAt = at
    number += 1
    granted = 0
    workedUntil = undefined
    nextTurn(() => {
      const ended = now()
      const workedMs = (workedUntil ?? ended) - at
      number += 1
      rest(Math.min(MOST_ROUNDS, Math.floor(workedMs)), ended + workedMs)
    })
  }

  /** Lets the event loop turn this many times, if anybody waits, and until then at most, before the next batch. */
  function rest(rounds: number, until: number): void {
    if (waiting === 0) {
      startedAt = undefined
      line.clear()
    } else if (rounds > 0 && now() < until) {
      nextTurn(() => rest(rounds - 1, until))
    } else {
      begin(now())
      letGo()
    }
  }

  /** One page after the other: starting them together would hold the data of all in memory at once. */
  function letGo(): void {
    const at = now()
    const next = hasRoom(at) ? shift(at) : undefined
    if (next === undefined) return void (workedUntil = at)
    granted += 1
    next.resolve('now')
    afterwards(letGo)
  }

  /** The next request that is still in time; late ones before it are refused. */
  function shift(at: number): Waiting | undefined {
    for (let taken = line.take(lastClient, at); taken !== undefined; taken = line.take(lastClient, at)) {
      const { client, first: next, movedAt } = taken
      if (next.isOver) continue
      const { request, deadlineMs } = next
      next.isOver = true
      waiting -= 1
      if (request.isDue !== true) longest = longerOf(longest, waitsOf(next, movedAt, at))
      if (!request.isGone() && at - next.since <= deadlineMs) {
        lastClient = client
        return next
      }
      next.resolve('late')
    }
    return undefined
  }
}

/** The requests that wait, in the order told in the head of this file. */
interface WaitingLine {
  /** @param since when the request has asked for its turn. */
  add(request: TurnRequest, since: number, resolve: (turn: Turn) => void): void
  /**
   * Takes the next request from the line of a different client; from that of this client only if no other waits.
   * @param at now.
   */
  take(lastClient: string | undefined, at: number): TakenTurn | undefined
  /** Removes all. */
  clear(): void
  /** Of the first request of any client; 0 without one. */
  waits(at: number): TurnWaits
}

interface TakenTurn {
  readonly client: string
  readonly first: Waiting
  /** When the client had its turn before, if it has waited since then. */
  readonly movedAt: number
}

function waitsOf({ since }: Waiting, movedAt: number, at: number): TurnWaits {
  return { longestMs: at - since, gapMs: at - Math.max(since, movedAt) }
}

function longerOf(one: TurnWaits, other: TurnWaits): TurnWaits {
  return { longestMs: Math.max(one.longestMs, other.longestMs), gapMs: Math.max(one.gapMs, other.gapMs) }
}

function createLine(): WaitingLine {
  const loaded = createFairQueue<Waiting>()
  const byClass = Object.fromEntries(
    REQUEST_CLASSES.map((name) => [name, createFairQueue<Waiting>()]),
  ) as unknown as Readonly<Record<RequestClass, FairQueue<Waiting>>>
  const ranks = [
    { queue: loaded, most: Infinity, passed: 0 },
    { queue: byClass.document, most: Infinity, passed: 0 },
    { queue: byClass.data, most: 3, passed: 0 },
    { queue: byClass.prefetch, most: 15, passed: 0 },
  ]
  const queues = ranks.map(({ queue }) => queue)

  function takeFrom(at: number, clientIn: (queue: FairQueue<Waiting>) => string | undefined): TakenTurn | undefined {
    const due = ranks.find(({ most, passed }) => passed >= most)
    for (const rank of due === undefined ? ranks : [due, ...ranks]) {
      const client = clientIn(rank.queue)
      const line = client === undefined ? undefined : rank.queue.lineOf(client)
      if (client === undefined || line === undefined) continue
      rank.queue.take(client, at)
      notePassed(rank)
      return { client, ...line }
    }
    return undefined
  }

  /** Counts a turn that another rank had for all that wait. */
  function notePassed(taken: (typeof ranks)[number]): void {
    for (const rank of ranks) {
      if (rank === taken || rank.queue.nextBut() === undefined) rank.passed = 0
      else rank.passed += 1
    }
  }

  return {
    add(request, since, resolve) {
      const isLoaded = request.loaded === true
      const queue = isLoaded ? loaded : byClass[request.requestClass]
      const deadlineMs =
        request.isDue === true ? Infinity : LIMIT_MS[isLoaded ? 'document' : request.requestClass] * DEADLINE_LIMITS
      const waiting: Waiting = { since, deadlineMs, request, resolve, isOver: false }
      queue.add(request.client, waiting)
      request.followClients?.((client) => {
        if (client !== request.client && !waiting.isOver) queue.add(client, waiting)
      })
    },
    clear: () => queues.forEach((queue) => queue.clear()),
    take: (lastClient, at) =>
      takeFrom(at, (queue) => queue.nextBut(lastClient)) ?? takeFrom(at, (queue) => queue.nextBut()),
    waits(at) {
      let most: TurnWaits = { longestMs: 0, gapMs: 0 }
      for (const queue of queues) {
        for (const { first, movedAt } of queue.lines()) {
          if (first.request.isDue !== true && !first.isOver) most = longerOf(most, waitsOf(first, movedAt, at))
        }
      }
      return most
    },
  }
}
