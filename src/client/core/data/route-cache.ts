/**
 * The cache of segments' data, by segment key. Pure: `now` is part of the events, in milliseconds.
 *
 * | age of an entry                                | state, never shown | state, once shown |
 * |------------------------------------------------|--------------------|-------------------|
 * | up to its lifetime (60 s unless a loader says) | fresh              | reusable          |
 * | up to 300 s                                    | stale              | stale             |
 * | more                                           | expired            | expired           |
 *
 * A lifetime of more than 300 s ends without a stale time. An age below zero (a clock was set back) counts as none.
 *
 * | event      | does                                                                                           |
 * |------------|------------------------------------------------------------------------------------------------|
 * | receive    | stores as most recently used; equal content: keeps the old value and `shown`; sweeps, evicts   |
 * | show       | marks as shown, and as most recently used in the order given; unknown keys are ignored         |
 * | revalidate | drops everything that the targets name                                                         |
 *
 * Bounds: 500 entries and 4,000,000 characters on the wire; the least recently used go first. An entry that is larger
 * than the bound, or has no lifetime, is not stored, and the previous one is dropped. `receive` sweeps expired
 * entries. If nothing changes the same object is returned; storing an answer is always a change.
 */

import { revalidationPath, revalidationTarget } from '../../../shared/revalidation-path.ts'

/** Lifetime of an entry whose loader sets none, in milliseconds. */
export const ENTRY_LIFETIME_MS = 60_000

/** Age in milliseconds up to which an entry may be shown while it is revalidated. */
export const REUSE_WINDOW_MS = 300_000

/** Maximum number of entries: some hundred pages. */
export const MAX_ENTRIES = 500

/** Maximum characters on the wire of all entries together. As objects they take several times that. */
export const MAX_SIZE = 4_000_000

/**
 * `fresh` and `reusable`: used without a request. `stale`: shown and revalidated in the background. `expired`: not
 * shown.
 */
export type EntryState = 'fresh' | 'reusable' | 'stale' | 'expired'

/** Data of one segment. */
export interface CacheEntry {
  readonly value: unknown
  /** Time of arrival, in milliseconds. */
  readonly receivedAt: number
  /** Milliseconds for which it is fresh; 0: not stored. */
  readonly lifetimeMs: number
  /** Whether it has been on screen. */
  readonly shown: boolean
  /** Tags for `revalidate(tag)`. */
  readonly tags: readonly string[]
  /** Pathname for `revalidate(path)`. */
  readonly path: string
  /** Characters on the wire. */
  readonly size: number
  /** The last drop that it contains, as in `drops-event.ts`. */
  readonly at?: number | undefined
  /** All of its text on the wire; absent for data from the document. */
  readonly content?: string | undefined
}

/** The cache. */
export interface RouteCache {
  /** By segment key; least recently used first. */
  readonly entries: ReadonlyMap<string, CacheEntry>
  /** Sum of the sizes of the entries. */
  readonly size: number
}

/** Events of the cache; see the table at the top of this file. */
export type CacheEvent =
  | { readonly type: 'receive'; readonly key: string; readonly entry: CacheEntry; readonly now: number }
  | { readonly type: 'show'; readonly keys: readonly string[] }
  | {
      readonly type: 'revalidate'
      /** See `matchesTarget`. */
      readonly targets: readonly string[]
      readonly before?: number | undefined
    }

/** A cache without entries. */
export const EMPTY_CACHE: RouteCache = { entries: new Map(), size: 0 }

/** How an entry may be used at the time `now`, in milliseconds. */
export function entryState(entry: Pick<CacheEntry, 'receivedAt' | 'lifetimeMs' | 'shown'>, now: number): EntryState {
  const age = now - entry.receivedAt
  if (age <= entry.lifetimeMs) return entry.shown ? 'reusable' : 'fresh'
  return age <= REUSE_WINDOW_MS ? 'stale' : 'expired'
}

/** The next state; the same object if nothing changes. */
export function reduceRouteCache(cache: RouteCache, event: CacheEvent): RouteCache {
  const entries = new Map(cache.entries)
  const putLast = (key: string, entry: CacheEntry): void => {
    entries.delete(key)
    entries.set(key, entry)
  }
  const forget = (dead: (entry: CacheEntry) => boolean): void => {
    for (const [key, entry] of entries) if (dead(entry)) entries.delete(key)
  }
  switch (event.type) {
    case 'receive': {
      const { key, entry, now } = event
      const old = entries.get(key)
      // React has rendered the old value: with the same object nothing is rendered again.
      const same = old?.content !== undefined && old.content === entry.content
      putLast(key, same ? { ...entry, value: old.value, shown: old.shown || entry.shown } : entry)
      forget((entry) => !(entry.lifetimeMs > 0) || entryState(entry, now) === 'expired')
      break
    }
    case 'show':
      for (const key of event.keys) {
        const entry = entries.get(key)
        if (entry) putLast(key, entry.shown ? entry : { ...entry, shown: true })
      }
      break
    case 'revalidate':
      forget((entry) => matchesTarget(entry, event.targets, event.before))
  }

  // An entry that exceeds the whole bound goes first, or it would evict all others before itself.
  forget((entry) => entry.size > MAX_SIZE)
  let size = 0
  for (const entry of entries.values()) size += entry.size
  forget((entry) => {
    const over = size > MAX_SIZE || entries.size > MAX_ENTRIES
    if (over) size -= entry.size
    return over
  })

  const before = [...cache.entries].flat()
  const after = [...entries].flat()
  return after.length === before.length && after.every((part, at) => part === before[at]) ? cache : { entries, size }
}

/**
 * Whether `revalidate(targets)` includes an entry. A target that begins with `/` is a path, in any spelling; with `/*`
 * at its end it is that path and everything below it, so that `/*` is everything. Any other target is a tag.
 * @param before time of the drop, as in `drops-event.ts`: newer entries are left out. Default: the entry's age is unknown.
 */
export function matchesTarget(
  entry: Pick<CacheEntry, 'tags' | 'path' | 'at'>,
  targets: readonly string[],
  before = Infinity,
): boolean {
  if ((entry.at ?? 0) >= before) return false
  const path = revalidationPath(entry.path)
  return targets.some((name) => {
    const target = revalidationTarget(name)
    if (!name.startsWith('/')) return entry.tags.some((tag) => revalidationTarget(tag) === target)
    // With a slash after both, "/lab" is below "/lab/*" and "/labour" is not.
    return target.endsWith('/*') ? `${path}/`.startsWith(target.slice(0, -1)) : path === target
  })
}
