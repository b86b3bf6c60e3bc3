/**
 * What clients have beyond their share of the window: ids and kinds only, in order, so that a long queue is walked once
 * and not again for each client. 16 bytes an entry: 8 MB for a full spool of the smallest envelopes.
 */
import type { SpooledEntry } from '../spool/spool.ts'

/** Entries of one kind with consecutive ids. */
export interface Run {
  readonly kind: string
  readonly first: number
  readonly length: number
}

/** Entries by client that are not in the window. */
export interface LeftOut {
  /** Entries, those included that have been evicted since. */
  readonly size: number
  readonly clients: Iterable<string>
  /** Whether there is something of this client that is older. */
  isBehind(entry: SpooledEntry): boolean
  /** @param kind the text of the kind that all its entries share. */
  add(entry: SpooledEntry, kind: string): void
  /** Takes the oldest of a client. */
  take(client: string, most: number): readonly Run[]
  clear(): void
}

interface Queue {
  readonly ids: number[]
  readonly kinds: string[]
  /** Entries before this place have been taken. */
  at: number
}

const MOST_TAKEN = 1_024 // places kept in front of a queue: removing them copies the rest

/** Leaves nothing out. */
export function createLeftOut(): LeftOut {
  const queues = new Map<string, Queue>()
  let size = 0

  return {
    get size() {
      return size
    },
    get clients() {
      return queues.keys()
    },
    isBehind({ client, id }) {
      const queue = queues.get(client)
      return queue !== undefined && (queue.ids[queue.at] ?? id) < id
    },
    add({ client, id }, kind) {
      const queue = queues.get(client) ?? { ids: [], kinds: [], at: 0 }
      queues.set(client, queue)
      size += 1
      let place = queue.ids.length
      // Only one of a kind that was unknown until now is not the newest.
      while (place > queue.at && (queue.ids[place - 1] ?? 0) > id) place -= 1
      if (place === queue.ids.length) {
        queue.ids.push(id)
        queue.kinds.push(kind)
      } else {
        queue.ids.splice(place, 0, id)
        queue.kinds.splice(place, 0, kind)
      }
    },
    take(client, most) {
      const queue = queues.get(client)
      if (queue === undefined) return []
      const end = Math.min(queue.at + most, queue.ids.length)
      const runs: { kind: string; first: number; length: number }[] = []
      for (let place = queue.at; place < end; place += 1) {
        const id = queue.ids[place] ?? 0
        const kind = queue.kinds[place] ?? ''
        const last = runs.at(-1)
        if (last?.kind === kind && last.first + last.length === id) last.length += 1
        else runs.push({ kind, first: id, length: 1 })
      }
      size -= end - queue.at
      queue.at = end
      if (end === queue.ids.length) queues.delete(client)
      else if (end >= MOST_TAKEN) {
        queue.ids.splice(0, end)
        queue.kinds.splice(0, end)
        queue.at = 0
      }
      return runs
    },
    clear() {
      queues.clear()
      size = 0
    },
  }
}
