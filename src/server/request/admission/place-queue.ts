/**
 * Places for answers in progress, and the requests that wait for one. Waiting costs little memory; a refusal costs the
 * processor more than that, because its client asks again at once.
 *
 * | a request comes                                     | it                                              |
 * |-----------------------------------------------------|-------------------------------------------------|
 * | and a place is free                                 | gets it, whoever holds the others               |
 * | all are taken, most of them by clients with a sixteenth or more | gets one of a further quarter of the places, if its client has fewer than are left of these, and less than half |
 * | all are taken                                       | waits for `WAIT_MS` at most; clients take turns |
 * | and too many wait (`MOST_WAITING`, by `shares.ts`)  | is refused                                      |
 *
 * So a client has everything while it is alone, and delays only itself. Each client leaves half of the further places that
 * it has found: of 128 places, it takes seven clients to leave a newcomer none, and nineteen if each has less than a
 * sixteenth, which is more than the connections of a browser.
 */
import { createShares, type SharesOptions } from '../../http/shares.ts'
import { createFairQueue } from '../../http/fair-queue.ts'

/** Longest wait for a place, in ms. */
export const WAIT_MS = 2_000
/** Requests that wait for a place. */
const MOST_WAITING = 1_000
const SWEEP_MS = 100
const LEAST_SHARED = 4 // below it there are no quarters
const LEAST_HEAVY = 2 // places, where a sixteenth is less

/** Why a request gets no place. `client`: its client has too many that wait. `late`: it has waited for too long. */
export type PlaceRefusal = 'client' | 'full' | 'late'

/** A request for a place. */
interface PlaceRequest {
  /** As `clientKey` names it. */
  readonly client: string
  /** Whether nobody waits for the answer any more. */
  isGone(): boolean
}

/** Places of one process. */
export interface PlaceQueue {
  /** @returns `undefined` at once if there is a place, which `give` returns. */
  take(request: PlaceRequest): PlaceRefusal | undefined | Promise<PlaceRefusal | undefined>
  give(client: string): void
  /** Held by one client. */
  of(client: string): number
  /** Held by all. */
  readonly taken: number
  /** Whether a new client would have to wait. */
  readonly isFull: boolean
  /** Whether one client holds more than half of what is held. */
  readonly isOneClients: boolean
  /** As in `Shares`. */
  isOfHolders(least: number): boolean
  /** Number of clients that hold places. */
  readonly clients: number
  /** Requests that wait. */
  readonly waiting: number
}

/** Their number, and what tests replace. */
interface PlaceQueueOptions extends Pick<SharesOptions, 'onGreedy'> {
  /** At least 1. */
  readonly limit: number
  /** Monotonic milliseconds. */
  readonly now?: (() => number) | undefined
}

interface Waiting {
  readonly request: PlaceRequest
  readonly since: number
  readonly resolve: (refusal: PlaceRefusal | undefined) => void
}

/** Starts empty. */
export function createPlaceQueue({ limit, onGreedy, now = () => performance.now() }: PlaceQueueOptions): PlaceQueue {
  const places = createShares({ most: () => Number.POSITIVE_INFINITY })
  const waiters = createShares({ most: () => MOST_WAITING, halves: true, onGreedy })
  const line = createFairQueue<Waiting>()
  const further = limit < LEAST_SHARED ? 0 : Math.ceil(limit / 4)
  const share = Math.ceil(further / 2)
  const heavy = Math.max(LEAST_HEAVY, Math.ceil(limit / 16))
  let sweeping: NodeJS.Timeout | undefined

  function hasRoom(client: string): boolean {
    if (waiters.taken === 0 && places.taken < limit) return true
    const left = limit + further - places.taken
    return places.of(client) < Math.min(share, left) && places.isOfHolders(heavy)
  }

  function leave(client: string): Waiting | undefined {
    const next = line.take(client)
    if (next !== undefined) waiters.give(client)
    return next
  }

  function letIn(): void {
    while (places.taken < limit) {
      const client = line.nextBut()
      if (client === undefined) return
      enter(client)
    }
    if (waiters.taken === 0 || !places.isOfHolders(heavy)) return
    for (const { request } of line.firsts()) if (hasRoom(request.client)) enter(request.client)
  }

  /** Gives the first of a client's requests that wait a place. */
  function enter(client: string): void {
    const next = leave(client)
    if (next === undefined) return
    const isGone = next.request.isGone()
    if (!isGone) places.add(client, 1)
    next.resolve(isGone ? 'late' : undefined)
  }

  function sweep(): void {
    const end = now() - WAIT_MS
    for (const { request, since } of line.firsts()) {
      if (since <= end || request.isGone()) leave(request.client)?.resolve('late')
    }
    sweeping = waiters.taken === 0 ? undefined : setTimeout(sweep, SWEEP_MS)
  }

  return {
    take(request) {
      const { client } = request
      if (hasRoom(client)) {
        places.add(client, 1)
        return undefined
      }
      const refusal = waiters.take(client)
      if (refusal !== undefined) return refusal
      sweeping ??= setTimeout(sweep, SWEEP_MS)
      return new Promise((resolve) => line.add(client, { request, since: now(), resolve }))
    },
    give(client) {
      places.give(client)
      letIn()
    },
    of: places.of,
    get taken() {
      return places.taken
    },
    get isFull() {
      return places.taken >= limit + (places.isOfHolders(heavy) ? further : 0)
    },
    get isOneClients() {
      return places.isOneClients
    },
    isOfHolders: places.isOfHolders,
    get clients() {
      return places.clients
    },
    get waiting() {
      return waiters.taken
    },
  }
}
