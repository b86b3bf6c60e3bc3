import type { SpooledEntry } from '../../../src/server/reports/spool/spool.ts'

const CATEGORIES = ['attachment', 'default', 'error', 'feedback', 'log_item', 'monitor', 'profile', 'profile_chunk']
CATEGORIES.push('replay', 'security', 'session', 'span', 'trace_metric', 'transaction')
/** All kinds that one client can make: every category, and every two. */
export const KINDS = CATEGORIES.flatMap((one, at) => [
  one,
  ...CATEGORIES.slice(at + 1).map((other) => `${one},${other}`),
])

/** A spool in memory that counts the rows it gives, also by turn of the event loop. */
export function countedSpool() {
  const byKind = new Map<string, SpooledEntry[]>()
  const counted = { rows: 0, lists: 0, mostRowsATurn: 0 }
  let lastId = 0
  let turn: { rows: number } | undefined

  function count(rows: number): void {
    if (turn === undefined) {
      turn = { rows: 0 }
      setImmediate(() => (turn = undefined))
    }
    turn.rows += rows
    counted.rows += rows
    counted.lists += 1
    counted.mostRowsATurn = Math.max(counted.mostRowsATurn, turn.rows)
  }

  function add(kind: string, client: string): SpooledEntry {
    lastId += 1
    const entry = { id: lastId, kind, client, eventId: undefined, categories: { error: 1 }, bytes: 1 }
    const queue = byKind.get(kind)
    if (queue === undefined) byKind.set(kind, [entry])
    else queue.push(entry)
    return entry
  }

  return {
    counted,
    add,
    fill(kind: string, client: string, number: number): void {
      for (let at = 0; at < number; at += 1) add(kind, client)
    },
    remove(gone: SpooledEntry): void {
      const left = (byKind.get(gone.kind) ?? []).filter(({ id }) => id !== gone.id)
      if (left.length > 0) byKind.set(gone.kind, left)
      else byKind.delete(gone.kind)
    },
    all: (): SpooledEntry[] => [...byKind.values()].flat().toSorted((one, other) => one.id - other.id),
    lastId: (): number => lastId,
    kinds: (): string[] => [...byKind.keys()].toSorted(),
    list(kind: string, after: number, most: number): SpooledEntry[] {
      const queue = byKind.get(kind) ?? []
      const from = placeAfter(queue, after)
      const page = queue.slice(from, from + most)
      count(page.length)
      return page
    },
  }
}

/** Queues are long: by halves. */
function placeAfter(queue: readonly SpooledEntry[], after: number): number {
  let [low, high] = [0, queue.length]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if ((queue[middle]?.id ?? 0) > after) high = middle
    else low = middle + 1
  }
  return low
}
