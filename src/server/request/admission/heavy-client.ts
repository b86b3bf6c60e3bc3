import type { PlaceQueue } from './place-queue.ts'

const LEAST_HEAVY = 2 // answers in progress
/** Up to this number of answers in progress, no client counts as greedy. */
const FEW = 8
/** Clients with at least one of so many answers in progress are few enough to have made the load together. */
const HEAVY_PARTS = 8
/**
 * How long a client that held most counts as one with the load, in ms: refused, it holds little for a moment. Load falls
 * in steps of some hundred ms, and refusals of documents are sent up to half a second late.
 */
const HEAVY_MS = 3_000

/** Whose load it is. */
export interface HeavyClient {
  /**
   * The client with most work is refused before others, so that its load affects itself first. With a single client
   * this helps nobody: all visitors may share the address of one proxy.
   */
  holdsMost(client: string): boolean
  /**
   * Whether the load is that of other clients, one with more than half of the answers or several with an eighth each or
   * more: this client is let in, and makes their requests the first to be refused.
   */
  isAnothers(client: string): boolean
  /**
   * Whether a client has no more in progress than most: none or one answer, or fewer than the mean. What it waits for is
   * not its own.
   */
  isLight(client: string): boolean
  /** Whether one client has more than half of the answers in progress, or several as above have three quarters together. */
  readonly isOfFew: boolean
}

/** @param now monotonic milliseconds. */
export function createHeavyClient(
  places: Pick<PlaceQueue, 'clients' | 'isOfHolders' | 'isOneClients' | 'of' | 'taken'>,
  now: () => number,
): HeavyClient {
  /** Until when, by client; the last that was noted last. */
  const heavy = new Map<string, number>()

  /** How much a client holds that counts as heavy. */
  function leastHeavy(): number {
    if (places.isOneClients) return Math.floor(places.taken / 2) + 1
    return Math.max(LEAST_HEAVY, Math.ceil(places.taken / HEAVY_PARTS))
  }

  function isOfFew(): boolean {
    return places.isOneClients || places.isOfHolders(leastHeavy())
  }

  function note(client: string, at: number): void {
    heavy.delete(client)
    heavy.set(client, at + HEAVY_MS)
  }

  /** Whether any client but this one counts as heavy. */
  function hasOthers(client: string, at: number): boolean {
    for (const [noted, until] of heavy) if (until <= at) heavy.delete(noted)
    return heavy.size > 0 && !heavy.has(client)
  }

  return {
    holdsMost(client) {
      const own = places.of(client)
      return places.taken >= FEW && own * 2 > places.taken && own < places.taken
    },
    isAnothers(client) {
      const at = now()
      if (places.taken >= FEW) {
        const isTheirs = isOfFew()
        if (isTheirs && places.of(client) < leastHeavy()) return true
        if (isTheirs) note(client, at)
      }
      return hasOthers(client, at)
    },
    isLight(client) {
      const own = places.of(client)
      return own < 2 || own * places.clients < places.taken
    },
    get isOfFew() {
      return isOfFew()
    },
  }
}
