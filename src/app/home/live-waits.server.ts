import { setTimeout as delay } from 'node:timers/promises'

/** How many waits there may be at a time. */
export interface WaitBounds {
  /** Of all clients together. */
  readonly most: number
  /** Of one client. */
  readonly mostOfOne: number
}

/** Waits that visitors cause and watch. */
export interface LiveWaits {
  /**
   * Begins a wait, if there is room.
   * @param client the client that it counts for, such as an address.
   * @param signal ends it early.
   * @returns the milliseconds that have passed; `undefined` at once if too many wait.
   */
  begin(client: string, ms: number, signal: AbortSignal): Promise<number> | undefined
}

/**
 * A wait takes one of the server's places for answers. So there are few, and no client can have all of them; the page must
 * be complete without one. Bound: `most` entries, each until its wait is over.
 */
export function createLiveWaits({ most, mostOfOne }: WaitBounds): LiveWaits {
  const waiting = new Map<symbol, string>()

  async function wait(id: symbol, ms: number, signal: AbortSignal): Promise<number> {
    const start = performance.now()
    try {
      await delay(ms, undefined, { signal })
      return Math.round(performance.now() - start)
    } finally {
      waiting.delete(id)
    }
  }

  return {
    begin(client, ms, signal) {
      const own = [...waiting.values()].filter((other) => other === client).length
      if (waiting.size >= most || own >= mostOfOne) return undefined
      const id = Symbol(client)
      waiting.set(id, client)
      return wait(id, ms, signal)
    },
  }
}
