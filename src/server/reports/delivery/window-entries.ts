import type { SpooledEntry } from '../spool/spool.ts'

const MOST_OF_A_CLIENT = 32

/** Entries in the window, oldest first; at most 32 of each client, but for those put back. */
interface WindowEntries {
  readonly size: number
  has(client: string): boolean
  /** How many more of a client may be added. */
  roomFor(client: string): number
  /** Adds an entry in its place. */
  add(entry: SpooledEntry): void
  /** Takes the oldest entry of a client that is not busy. @param random as for `DeliveryWindow.take`. */
  take(isBusy: (client: string) => boolean, random?: () => number): SpooledEntry | undefined
  clear(): void
}

/** Starts empty. */
export function createWindowEntries(): WindowEntries {
  const entries: SpooledEntry[] = []
  /** Number of entries by client. */
  const held = new Map<string, number>()

  return {
    get size() {
      return entries.length
    },
    has: (client) => held.has(client),
    roomFor: (client) => MOST_OF_A_CLIENT - (held.get(client) ?? 0),
    add(entry) {
      held.set(entry.client, (held.get(entry.client) ?? 0) + 1)
      const newest = entries.at(-1)
      if (newest === undefined || newest.id < entry.id) return void entries.push(entry)
      const place = entries.findIndex(({ id }) => id > entry.id)
      entries.splice(place < 0 ? entries.length : place, 0, entry)
    },
    take(isBusy, random) {
      const clients = random === undefined ? [] : [...held.keys()].filter((client) => !isBusy(client))
      const chosen = random === undefined ? undefined : clients[Math.floor(random() * clients.length)]
      const at = entries.findIndex(({ client }) => (chosen === undefined ? !isBusy(client) : client === chosen))
      const entry = at < 0 ? undefined : entries.splice(at, 1)[0]
      if (entry === undefined) return undefined
      const left = (held.get(entry.client) ?? 0) - 1
      if (left > 0) held.set(entry.client, left)
      else held.delete(entry.client)
      return entry
    },
    clear() {
      entries.length = 0
      held.clear()
    },
  }
}
