import { EVENT_LOOP, type EventLoop } from './event-loop.ts'
import { createFairQueue } from './fair-queue.ts'

/** Turns of those who have waited for the same thing, and could all go on at once. */
export interface WaiterTurns {
  /** Resolves when it is the caller's turn. Clients take turns. @param client as `clientKey` names it. */
  take(client: string): Promise<void>
}

/** After so much work of waiters in a turn of the event loop, in milliseconds, the others wait for the next turn. */
const TURN_MS = 5

/**
 * Nobody waits at first. Each goes on alone up to its next wait, so that hundreds never hold their copies, renders or
 * answers in memory together, nor keep the event loop from everything else. Bound: one entry for each waiting request.
 */
export function createWaiterTurns({ now, nextTurn, afterwards }: EventLoop = EVENT_LOOP): WaiterTurns {
  const queue = createFairQueue<() => void>()
  let isRunning = false

  function letGo(since: number): void {
    const client = queue.nextBut()
    if (client === undefined) {
      isRunning = false
      return
    }
    queue.take(client)?.()
    afterwards(() => (now() - since < TURN_MS ? letGo(since) : nextTurn(() => letGo(now()))))
  }

  return {
    take(client) {
      const { promise, resolve } = Promise.withResolvers<void>()
      queue.add(client, resolve)
      if (!isRunning) {
        isRunning = true
        letGo(now())
      }
      return promise
    },
  }
}
