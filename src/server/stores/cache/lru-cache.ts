/** Limits of the cache. */
export interface LruBounds {
  readonly entries: number
  /** All entries together, by the sizes that `set` was given. */
  readonly bytes: number
}

/**
 * A map that evicts its least recently used entries to make room. If the client of a new entry has more than a quarter
 * of all room, only that client's entries are evicted.
 */
export interface LruCache<Entry> {
  /** The entry; marks it as used. */
  get(key: string): Entry | undefined
  /**
   * Adds an entry as the most recently used.
   * @param bytes its size.
   * @param client for which it was made, as `clientKey` names it.
   * @returns whether it is kept: an entry larger than the whole cache is not, and the previous one is gone.
   */
  set(key: string, entry: Entry, bytes: number, client?: string): boolean
  delete(key: string): void
  /** All entries with their keys, the least recently used first; deleting during iteration is allowed. */
  entries(): Iterable<readonly [key: string, entry: Entry]>
  readonly size: number
  readonly bytes: number
}

interface Slot<Entry> {
  readonly entry: Entry
  readonly bytes: number
  readonly client: string
}

/** The entries of one client. */
interface Part {
  /** The least recently used first. */
  readonly keys: Set<string>
  bytes: number
}

/**
 * Maps and sets iterate in insertion order: a used entry is inserted again.
 * @param onEvicted receives what was evicted to make room, and whether only because its client has too many.
 */
export function createLruCache<Entry>(
  bounds: LruBounds,
  onEvicted: (key: string, entry: Entry, isCrowdedOut: boolean) => void = () => undefined,
): LruCache<Entry> {
  const slots = new Map<string, Slot<Entry>>()
  const parts = new Map<string, Part>()
  let total = 0
  /** The most recently used key, if it is still there: most reads of a busy page follow each other. */
  let last: string | undefined

  function remove(key: string): void {
    const slot = slots.get(key)
    if (slot === undefined) return
    if (key === last) last = undefined
    slots.delete(key)
    total -= slot.bytes
    const part = parts.get(slot.client)
    if (part === undefined) return
    part.keys.delete(key)
    part.bytes -= slot.bytes
    if (part.keys.size === 0) parts.delete(slot.client)
  }

  function put(key: string, slot: Slot<Entry>): void {
    slots.set(key, slot)
    last = key
    total += slot.bytes
    const part = parts.get(slot.client) ?? { keys: new Set(), bytes: 0 }
    parts.set(slot.client, part)
    part.keys.add(key)
    part.bytes += slot.bytes
  }

  function makeRoom(client: string): void {
    const part = parts.get(client)
    const isGreedy = part !== undefined && (part.keys.size * 4 > bounds.entries || part.bytes * 4 > bounds.bytes)
    const [oldest = ''] = (isGreedy ? part.keys : slots).keys()
    const slot = slots.get(oldest)
    remove(oldest)
    if (slot !== undefined) onEvicted(oldest, slot.entry, isGreedy && client !== '')
  }

  return {
    get(key) {
      const slot = slots.get(key)
      if (slot === undefined) return undefined
      if (key === last) return slot.entry
      last = key
      slots.delete(key)
      slots.set(key, slot)
      const keys = parts.get(slot.client)?.keys
      keys?.delete(key)
      keys?.add(key)
      return slot.entry
    },
    set(key, entry, bytes, client = '') {
      remove(key)
      if (bytes > bounds.bytes || bounds.entries < 1) return false
      put(key, { entry, bytes, client })
      while (slots.size > bounds.entries || total > bounds.bytes) makeRoom(client)
      return true
    },
    delete: remove,
    *entries() {
      for (const [key, { entry }] of slots) yield [key, entry]
    },
    get size() {
      return slots.size
    },
    get bytes() {
      return total
    },
  }
}
