/**
 * The store of what protects people: rate limits, calls that have run, sessions. What its entries mean is decided above
 * it (`rate-limits.ts`, `idempotency-store.ts`, `session-store.ts`); two drivers keep them, in SQLite files
 * (`sqlite-store.ts`) and in Redis (`redis-store.ts`). Each member is one atomic step, for all processes and instances.
 *
 * Nothing but time, its owner and the bounds removes an entry. Both drivers hold to the bounds in the same way: a client
 * has at most half of them, and without room the client that has most loses the entry that expires first; in Redis, those
 * without a value come last. For limits, whose loss frees their client, see `crowded-keys.ts`.
 */
import type { RateLimit, RateLimitResult } from './rate-cells.ts'

/** A kind of entries. Each kind has its own bounds. */
export interface StoreKind {
  /** Part of the names of its tables and keys. */
  readonly name: 'limits' | 'calls' | 'sessions'
  /** Bound of entries, of all clients together. */
  readonly entries: number
  /** Bound of the bytes of all values together, in UTF-8. */
  readonly bytes: number
  /** Whether values are kept, too, while a disk has no room for more: then those of clients that have most make room. */
  readonly keepsValues?: boolean
}

/** What is kept under a key. All texts but the value have a bounded length. */
export interface StoreEntry {
  readonly key: string
  readonly value: string
  /** Entries of a group are listed and ended together. `''`: of none. */
  readonly group: string
  /** Whose room it takes. */
  readonly client: string
  /** Milliseconds since the epoch; from then on it is not found. */
  readonly expiresAt: number
}

/** A kept entry. */
export interface StoredEntry extends StoreEntry {
  /** Grows with each change. */
  readonly version: number
  /** Of its group, when the entry was made. */
  readonly epoch: number
}

/** How an entry is put. */
export interface PutOptions {
  /** Only if the key has no entry. */
  readonly ifAbsent?: boolean
  /** Only if the key's entry has this version. */
  readonly ifVersion?: number
  /** Of an entry that continues another one: refused if the group has advanced since. Default: the group's own. */
  readonly epoch?: number
  /** More entries of the group are removed, those that expire first; never this one. */
  readonly mostOfGroup?: number
}

/** What came of a put. */
export interface PutResult {
  /** The entry; `undefined` if it was refused. */
  readonly kept?: StoredEntry | undefined
  /** The entry because of which it was refused, if that is why. */
  readonly found?: StoredEntry | undefined
}

/** Keeps entries of one kind. Times are in milliseconds since the epoch. Members fail if the store is unavailable. */
export interface Store {
  get(key: string, now: number): Promise<StoredEntry | undefined>
  put(entry: StoreEntry, now: number, options?: PutOptions): Promise<PutResult>
  /**
   * @param group as the entry has it: other entries stay.
   * @param ifVersion only if the entry has this version.
   * @returns whether there was one.
   */
  remove(key: string, group: string, ifVersion?: number): Promise<boolean>
  /** Entries of a group, in no order. */
  list(group: string, now: number): Promise<readonly StoredEntry[]>
  /**
   * Removes all entries of a group, and refuses those that would continue one of them.
   * @param except key of an entry that stays.
   */
  advance(group: string, now: number, except?: string): Promise<Advance>
  /**
   * Takes a point of a limit, whose key has no other use. A refused call takes none.
   * @throws {RangeError} for an invalid limit.
   */
  take(key: string, limit: RateLimit, now: number, client: string): Promise<RateLimitResult>
}

/** What advancing a group has done. */
export interface Advance {
  /** How many entries were removed. */
  readonly ended: number
  /** The group's epoch from now on. */
  readonly epoch: number
}

/** A client has at most this share of a bound. */
export const CLIENT_SHARE = 0.5

/** How long the epoch of a group is kept: longer than any request that could continue one of its entries. */
export const EPOCH_LIFETIME_MS = 86_400_000

/** Bound of groups that have advanced in that time; beyond it, those that did so first are forgotten. */
export const MOST_EPOCHS = 100_000
