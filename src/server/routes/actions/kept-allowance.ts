/**
 * How many results of calls are kept for one client, so that it cannot push those of others out of the store: half of what
 * the store holds, in its lifetime. A call beyond that runs and is answered, and its repetition would run again. Counted
 * in two windows: what was kept up to twice the lifetime ago may still count.
 *
 * Bound: one entry a window for each client that has made calls with a key in it.
 */

/** What one client may have kept. */
export interface KeptBounds {
  readonly keys: number
  readonly bytes: number
  readonly lifetimeMs: number
}

/** Counts what is kept. */
export interface KeptAllowance {
  /** @returns whether one more result may be kept. */
  take(client: string, bytes: number, now: number): boolean
}

interface Kept {
  readonly keys: number
  readonly bytes: number
}

const NOTHING: Kept = { keys: 0, bytes: 0 }

/** Nothing is kept yet. */
export function createKeptAllowance(bounds: KeptBounds): KeptAllowance {
  let before = new Map<string, Kept>()
  let current = new Map<string, Kept>()
  let since = Number.NEGATIVE_INFINITY

  return {
    take(client, bytes, now) {
      if (now - since >= bounds.lifetimeMs || now < since) {
        before = now - since < bounds.lifetimeMs * 2 ? current : new Map<string, Kept>()
        current = new Map()
        since = now
      }
      const known = current.get(client) ?? NOTHING
      const earlier = before.get(client) ?? NOTHING
      const next = { keys: known.keys + 1, bytes: known.bytes + bytes }
      if (next.keys + earlier.keys > bounds.keys || next.bytes + earlier.bytes > bounds.bytes) return false
      current.set(client, next)
      return true
    },
  }
}
