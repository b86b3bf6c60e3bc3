import { createFairQueue } from './fair-queue.ts'

/** Work that sends bytes to something that others also wait for. Clients take turns. */
export interface ByteTurns {
  /**
   * Runs work when its turn comes, and counts its bytes until it has settled.
   * @param client as `clientKey` names it.
   * @param bytes that it sends. Work with more than the bound runs alone.
   * @throws errors of `work`.
   */
  run<Result>(client: string, bytes: number, work: () => Promise<Result>): Promise<Result>
}

interface Waiting {
  readonly client: string
  readonly bytes: number
  start(): void
}

/**
 * Nothing is on its way at first. What waits is not bounded here: callers hold a place, or count it.
 * @param most bytes of all work that runs.
 */
export function createByteTurns(most: number): ByteTurns {
  const queue = createFairQueue<Waiting>()
  let sent = 0

  /** Strictly in turn: small work of many clients must not keep a large one from beginning. */
  function startNext(): void {
    for (const { client, bytes, start } of queue.firsts()) {
      if (sent > 0 && sent + bytes > most) return
      queue.take(client)
      sent += bytes
      start()
    }
  }

  return {
    async run(client, bytes, work) {
      const { promise: turn, resolve: start } = Promise.withResolvers<void>()
      queue.add(client, { client, bytes, start })
      startNext()
      await turn
      try {
        return await work()
      } finally {
        sent -= bytes
        startNext()
      }
    },
  }
}
