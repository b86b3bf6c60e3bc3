import type { PlaceQueue } from './place-queue.ts'

/** Up to this number of answers in progress, no client counts as greedy. */
const FEW = 8
/**
 * How long a client that held most counts as the one with the load, in ms: refused, it holds little for a moment. Load falls
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
  /** Whether the load is that of another client: this one is let in, and makes that one's requests the first to be refused. */
  isAnothers(client: string): boolean
}

/** @param now monotonic milliseconds. */
export function createHeavyClient(
  places: Pick<PlaceQueue, 'isOneClients' | 'of' | 'taken'>,
  now: () => number,
): HeavyClient {
  let heavy: { readonly client: string; readonly until: number } | undefined
  return {
    holdsMost(client) {
      const own = places.of(client)
      return places.taken >= FEW && own * 2 > places.taken && own < places.taken
    },
    isAnothers(client) {
      const at = now()
      if (places.taken >= FEW && places.isOneClients) {
        if (places.of(client) * 2 <= places.taken) return true
        heavy = { client, until: at + HEAVY_MS }
      }
      return heavy !== undefined && heavy.client !== client && at < heavy.until
    },
  }
}
