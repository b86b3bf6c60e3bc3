/** How much is kept at most. */
export interface LruBounds {
  readonly entries: number
  /** All entries together, as their owners have counted them. */
  readonly bytes: number
}

/** A map whose least recently used entries make room for new ones. */
export interface LruCache<Entry> {
  /** The entry, which counts as used by that. */
  get(key: string): Entry | undefined
  /**
   * Puts an entry in, as the most recently used.
   * @param bytes what it counts.
   * @returns whether it is kept: one that is larger than all may be together is not, and what stood there before it is gone.
   */
  set(key: string, entry: Entry, bytes: number): boolean
  delete(key: string): void
  readonly size: number
  readonly bytes: number
}

interface Slot<Entry> {
  readonly entry: Entry
  readonly bytes: number
}

/** A map remembers the order in which keys were put in: an entry that is used is put in anew. */
export function createLruCache<Entry>(bounds: LruBounds): LruCache<Entry> {
  const slots = new Map<string, Slot<Entry>>()
  let total = 0

  function remove(key: string): void {
    const slot = slots.get(key)
    if (slot === undefined) return
    slots.delete(key)
    total -= slot.bytes
  }

  return {
    get(key) {
      const slot = slots.get(key)
      if (slot === undefined) return undefined
      slots.delete(key)
      slots.set(key, slot)
      return slot.entry
    },
    set(key, entry, bytes) {
      remove(key)
      if (bytes > bounds.bytes || bounds.entries < 1) return false
      slots.set(key, { entry, bytes })
      total += bytes
      for (const oldest of slots.keys()) {
        if (slots.size <= bounds.entries && total <= bounds.bytes) break
        remove(oldest)
      }
      return true
    },
    delete: remove,
    get size() {
      return slots.size
    },
    get bytes() {
      return total
    },
  }
}
