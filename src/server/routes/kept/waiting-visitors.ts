import { clientKey } from '../../http/client-key.ts'
import { createShares } from '../../http/shares.ts'
import type { RequestContext } from '../../request/context.ts'

/** Requests of one process that wait for documents in the making. */
const MOST_WAITING = 4_000
/** Bytes of their heads. */
const MOST_BYTES = 16_777_216
const REQUEST_BYTES = 2_000 // what Node and we hold of a request, besides its head

/** Requests that wait for documents in the making; clients share the room. */
export interface WaitingVisitors {
  /**
   * Waits for the end of a making, or until the visitor has left.
   * @returns `undefined` if too many wait already.
   */
  wait(context: RequestContext, over: Promise<unknown>): Promise<void> | undefined
  readonly waiting: number
}

/** Nobody waits at first. */
export function createWaitingVisitors(): WaitingVisitors {
  const places = createShares({ most: () => MOST_WAITING, halves: true })
  const bytes = createShares({ most: () => MOST_BYTES })
  return {
    wait(context, over) {
      const client = clientKey(context.clientAddress.address)
      const size = REQUEST_BYTES + context.req.rawHeaders.reduce((sum, text) => sum + text.length, 0)
      if (places.take(client) !== undefined) return undefined
      if (bytes.take(client, size) !== undefined) {
        places.give(client)
        return undefined
      }
      const left = new Promise<void>((resolve) => context.onAbort(() => resolve()))
      return Promise.race([over.then(() => undefined), left]).finally(() => {
        places.give(client)
        bytes.give(client, size)
      })
    },
    get waiting() {
      return places.taken
    },
  }
}
