/**
 * The data of segments that a page has, by segment key. Pure: `now` comes with the events, in milliseconds.
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
 * | receive    | stores as most recently used; equal hash: keeps value and `shown` of before; sweeps and evicts |
 * | show       | marks as shown, and as most recently used in the order given; unknown keys are ignored         |
 * | revalidate | forgets what the targets name                                                                  |
 *
 * Bounds: 500 entries and 4,000,000 characters on the wire; the least recently used go first. An entry that is larger
 * than the bound, or has no lifetime, is not stored, and what was there before it is forgotten. `receive` sweeps
 * what has expired. Where nothing changes the same object is returned; an answer that is stored is always a change.
 */

import { revalidationPath, revalidationTarget } from '../../../shared/revalidation-path.ts'

/** Lifetime of an entry whose loader names none, in milliseconds. */
export const ENTRY_LIFETIME_MS = 60_000

/** Age in milliseconds up to which an entry may be shown while it is revalidated. */
export const REUSE_WINDOW_MS = 300_000

/** Most entries that are kept: some hundred pages. */
export const MAX_ENTRIES = 500

/** Most characters on the wire that are kept, all entries together. As objects they take several times that. */
export const MAX_SIZE = 4_000_000

/** `fresh` and `reusable`: used without a request. `stale`: shown and revalidated behind. `expired`: not shown. */
export type EntryState = 'fresh' | 'reusable' | 'stale' | 'expired'

/** Data of one segment. */
export interface CacheEntry {
  readonly value: unknown
  /** When it came, in milliseconds. */
  readonly receivedAt: number
  /** Milliseconds for which it is fresh; 0: not to be stored. */
  readonly lifetimeMs: number
  /** Whether it has been on the screen. */
  readonly shown: boolean
  /** By which `revalidate(tag)` finds it. */
  readonly tags: readonly string[]
  /** Pathname by which `revalidate(path)` finds it. */
  readonly path: string
  /** Characters on the wire. */
  readonly size: number
  /** Hash of the content; absent for what came with the document. */
  readonly hash?: number | undefined
}

/** The cache. */
export interface RouteCache {
  /** By segment key; least recently used first. */
  readonly entries: ReadonlyMap<string, CacheEntry>
  /** Sum of the sizes of the entries. */
  readonly size: number
}

/** What may happen to the cache; see the table in the head of this file. */
export type CacheEvent =
  | { readonly type: 'receive'; readonly key: string; readonly entry: CacheEntry; readonly now: number }
  | { readonly type: 'show'; readonly keys: readonly string[] }
  | {
      readonly type: 'revalidate'
      /** See `matchesTarget`. */
      readonly targets: readonly string[]
    }

/** A cache without entries. */
export const EMPTY_CACHE: RouteCache = { entries: new Map(), size: 0 }

/** How an entry may be used at the time `now`, in milliseconds. */
export function entryState(entry: Pick<CacheEntry, 'receivedAt' | 'lifetimeMs' | 'shown'>, now: number): EntryState {
  const age = now - entry.receivedAt
  if (age <= entry.lifetimeMs) return entry.shown ? 'reusable' : 'fresh'
  return age <= REUSE_WINDOW_MS ? 'stale' : 'expired'
}

/** The next state; the same object where nothing changes. */
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
      // The value of before is what React has rendered: with the same object nothing is rendered again.
      const same = old?.hash !== undefined && old.hash === entry.hash
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
      forget((entry) => matchesTarget(entry, event.targets))
  }

  // One that is larger than all may be together goes first, or it would push all others out before itself.
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
 * Whether `revalidate(targets)` concerns an entry. A target that begins with `/` is a path, however it is written; with
 * `/*` at its end it is that path and all below it, so that `/*` is everything. Any other target is a tag.
 */
export function matchesTarget(entry: Pick<CacheEntry, 'tags' | 'path'>, targets: readonly string[]): boolean {
  const path = revalidationPath(entry.path)
  return targets.some((name) => {
    if (!name.startsWith('/')) return entry.tags.includes(name)
    const target = revalidationTarget(name)
    // With a slash behind both, "/lab" is below "/lab/*" and "/labour" is not.
    return target.endsWith('/*') ? `${path}/`.startsWith(target.slice(0, -1)) : path === target
  })
}
