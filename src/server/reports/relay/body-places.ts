/**
 * Places for large bodies, which limit how many are in memory at once. Others wait unread, in turns of clients, and no
 * client can have all places, nor keep one by sending slowly:
 *
 * - a client with a place gets another only if one is left for others;
 * - once a client without a place has waited for two seconds, the slowest of those that have had one for five seconds
 *   loses it.
 */

const HURRY_MS = 2_000
const UNDISTURBED_MS = 5_000 // 20 MiB at 32 Mbit a second

/** Places for bodies that need much memory. */
export interface BodyPlaces {
  /**
   * Waits for a place.
   * @param client sender of the body.
   * @param signal aborts the wait.
   * @throws the signal's reason.
   * @throws {NoPlaceError} if it takes too long.
   */
  enter(client: string, signal: AbortSignal): Promise<BodyPlace>
}

/** A place for one body. */
export interface BodyPlace {
  /** Aborted, with a `NoPlaceError`, when the place is withdrawn: stop reading the body. */
  readonly signal: AbortSignal
  /** Reports received bytes of the body. */
  received(bytes: number): void
  /** A second call does nothing. */
  leave(): void
}

/** No place became free in time, or this one was too slow while others waited. Answered with 503. */
export class NoPlaceError extends Error {
  override readonly name = 'NoPlaceError'

  constructor() {
    super('Too many large bodies at once')
  }
}

interface Holder {
  readonly client: string
  readonly since: number
  readonly lost: AbortController
  bytes: number
}

interface Waiter {
  readonly client: string
  readonly come: () => void
}

/**
 * @param most places.
 * @param patienceMs longest wait, in ms.
 * @param now monotonic milliseconds.
 */
export function createBodyPlaces(
  most: number,
  patienceMs: number,
  now: () => number = () => performance.now(),
): BodyPlaces {
  const holders = new Set<Holder>()
  const waiting = new Set<Waiter>()
  /** Of clients that have a place or wait for one: when each last got one, in the order of places. */
  const served = new Map<string, number>()
  let places = 0

  const has = (client: string): boolean => [...holders].some((holder) => holder.client === client)

  function mayEnter(client: string): boolean {
    const free = most - holders.size
    return free > (has(client) && most > 1 ? 1 : 0)
  }

  function callNext(): void {
    const turnOf = ({ client }: Waiter): number => served.get(client) ?? 0
    for (;;) {
      const next = [...waiting].filter(({ client }) => mayEnter(client))
      if (next.length === 0) return
      next.reduce((first, other) => (turnOf(other) < turnOf(first) ? other : first)).come()
    }
  }

  function forget(client: string): void {
    if (!has(client) && ![...waiting].some((waiter) => waiter.client === client)) served.delete(client)
  }

  function hold(client: string): BodyPlace {
    const holder: Holder = { client, since: now(), lost: new AbortController(), bytes: 0 }
    holders.add(holder)
    served.set(client, (places += 1))
    return {
      signal: holder.lost.signal,
      received: (bytes) => void (holder.bytes += bytes),
      leave() {
        if (!holders.delete(holder)) return
        callNext()
        forget(client)
      },
    }
  }

  function takeBackSlowest(): void {
    const rate = ({ bytes, since }: Holder): number => bytes / (now() - since)
    const slow = [...holders].filter(({ since, lost }) => now() - since >= UNDISTURBED_MS && !lost.signal.aborted)
    slow.toSorted((one, other) => rate(one) - rate(other))[0]?.lost.abort(new NoPlaceError())
  }

  return {
    enter(client, signal) {
      if (signal.aborted) return Promise.reject(signal.reason as Error)
      if (mayEnter(client)) return Promise.resolve(hold(client))
      return new Promise((resolve, reject) => {
        const settle = (done: () => void): void => {
          clearTimeout(patience)
          clearInterval(hurry)
          signal.removeEventListener('abort', giveUp)
          waiting.delete(waiter)
          done()
        }
        const waiter: Waiter = { client, come: () => settle(() => resolve(hold(client))) }
        const refuse = (reason: Error): void => {
          settle(() => reject(reason))
          forget(client)
        }
        const giveUp = (): void => refuse(signal.reason as Error)
        const patience = setTimeout(() => refuse(new NoPlaceError()), patienceMs)
        const hurry = setInterval(() => {
          if (!has(client)) takeBackSlowest()
        }, HURRY_MS)
        signal.addEventListener('abort', giveUp, { once: true })
        waiting.add(waiter)
      })
    },
  }
}
