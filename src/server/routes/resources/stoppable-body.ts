import { setTimeout as delay } from 'node:timers/promises'

/** How long a body that is stopped may take to bring the piece that is on its way, in ms. */
const GRACE_MS = 1_000

/** A body of a `Response`, read piece by piece. */
export interface StoppableBody {
  read(): ReturnType<ReadableStreamDefaultReader<Uint8Array>['read']>
  /**
   * Stops the author's stream. A generator learns it at its next piece. Waits for the piece that is on its way: undici closes
   * the stream of a generator that ends, also one that has been cancelled meanwhile, and throws where nobody can catch it
   * (`new Response(generator())`, undici 8.10). The generator has a signal, so it ends soon.
   */
  stop(reason?: unknown): Promise<void>
}

export function readStoppable(body: ReadableStream<Uint8Array>): StoppableBody {
  const reader = body.getReader()
  let onItsWay: Promise<unknown> | undefined
  return {
    read() {
      const piece = reader.read()
      onItsWay = piece
      const arrived = (): void => void (onItsWay = undefined)
      piece.then(arrived, arrived)
      return piece
    },
    async stop(reason) {
      if (onItsWay !== undefined) {
        const piece = onItsWay.catch(() => undefined)
        await Promise.race([piece, delay(GRACE_MS, undefined, { ref: false })])
      }
      await reader.cancel(reason)
    },
  }
}
