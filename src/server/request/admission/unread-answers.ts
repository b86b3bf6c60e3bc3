/**
 * Answers that are made, and whose bytes wait for their readers. They hold no place any more: nothing is left to do for
 * them but to wait.
 *
 * | bytes of an answer wait                               | then                                                     |
 * |-------------------------------------------------------|----------------------------------------------------------|
 * | and all clients together stay below the bound         | they wait; `process/slow-readers.ts` bounds for how long |
 * | its client has more than its share (`http/shares.ts`) | of this client, the answer that waits longest is cut;    |
 * | while others have some                                | of another one that has more than half, if there is one  |
 * | all is taken                                          | of the client that has most, the one that waits longest  |
 *
 * Bound: 64 MiB, and an entry for each answer that waits. One answer alone is never cut. Not counted is what waits for the
 * server's own compressor: its reader may be as fast as it likes.
 */
import { clientKey } from '../../http/client-key.ts'
import { judgeShare } from '../../http/shares.ts'
import type { RequestContext } from '../context.ts'

const MOST_BYTES = 67_108_864

/** What is needed of a request. */
export type UnreadRequest = Pick<RequestContext, 'clientAddress' | 'res'> & {
  readonly record: { refused: string | undefined }
  onFinish(listener: () => void): void
}

/** Bytes that wait, by answer. */
export interface UnreadAnswers {
  /**
   * Notes how many bytes of an answer wait now; 0 for none. May cut it, or others. Forgets it when it is over.
   */
  note(request: UnreadRequest, bytes: number): void
  /** Of all answers. */
  readonly bytes: number
}

/** Answers of a client, the one that waits longest first. */
interface Held {
  readonly answers: Map<UnreadRequest, number>
  bytes: number
}

/** Starts empty. @param most bytes of all answers. */
export function createUnreadAnswers(most: number = MOST_BYTES): UnreadAnswers {
  const clients = new Map<string, Held>()
  const known = new WeakSet<UnreadRequest>()
  let all = 0

  function change(request: UnreadRequest, client: string, bytes: number): Held {
    const held = clients.get(client) ?? { answers: new Map<UnreadRequest, number>(), bytes: 0 }
    const added = bytes - (held.answers.get(request) ?? 0)
    held.bytes += added
    all += added
    if (bytes > 0) held.answers.set(request, bytes)
    else held.answers.delete(request)
    if (held.answers.size === 0) clients.delete(client)
    else clients.set(client, held)
    return held
  }

  function greediest(): readonly [string, Held] | undefined {
    let greediest: readonly [string, Held] | undefined
    for (const entry of clients) if (entry[1].bytes > (greediest?.[1].bytes ?? 0)) greediest = entry
    return greediest
  }

  function cutFirst([client, { answers }]: readonly [string, Held]): boolean {
    const [request] = answers.keys()
    if (request === undefined || (clients.size === 1 && answers.size === 1)) return false
    change(request, client, 0)
    request.record.refused ??= 'too many bytes wait for slow readers'
    const { res } = request
    if (res.socket) res.socket.resetAndDestroy()
    else res.destroy()
    return true
  }

  return {
    note(request, bytes) {
      const client = clientKey(request.clientAddress.address)
      const held = change(request, client, bytes)
      if (bytes === 0) return
      if (!known.has(request)) request.onFinish(() => change(request, client, 0))
      known.add(request)
      for (;;) {
        const refusal = judgeShare({ own: held.bytes, all, most })
        if (refusal === undefined || (refusal === 'client' && clients.size === 1)) return
        const first = greediest()
        const cut = refusal === 'full' || (first && first[1].bytes * 2 > most) ? first : ([client, held] as const)
        if (cut === undefined || !cutFirst(cut)) return
      }
    },
    get bytes() {
      return all
    },
  }
}
