/**
 * Idempotency: what has become of calls that carry a key, so that a call which is sent again after its answer was lost
 * does not run again. Kept for ten minutes; at most 100,000 keys and 64 MiB of results, the oldest go first.
 */
import { createGroupedWrites } from './grouped-writes.ts'
import type { Database } from './open-database.ts'
import { storedKey } from './stored-key.ts'

/** For how long a key is remembered: from its beginning, and again from its end. Milliseconds. */
export const ONCE_LIFETIME_MS = 600_000

const SWEEP_EVERY = 256 // calls
const COUNT_EVERY = 4_096 // calls, by as many of which the bound may be passed: to count 100,000 keys takes milliseconds
const COUNT_SHARE = 16 // results are counted, too, once so small a part of their bound has been added
/** Of all clients. */
export const MOST_KEYS = 100_000 // 160 calls a second
/** Bytes of all results together. */
export const MOST_RESULT_BYTES = 67_108_864

/** What is known of a key. */
export type OnceState =
  /** Nothing until now; from now on it is running. */
  | { readonly state: 'new' }
  /** Begun and not ended. After a crash it stays so for ten minutes: nobody knows how far it has come. */
  | { readonly state: 'running' }
  | { readonly state: 'done'; readonly result: string }

/** Remembers which calls have run. Times are in milliseconds since the epoch. */
export interface OnceStore {
  /** Asks for the right to run. Of several that ask at once, one is told `new`. */
  begin(key: string, now: number): Promise<OnceState>
  /** Keeps the result. */
  finish(key: string, result: string, now: number): Promise<void>
  /** Forgets the key, so that the call may run again. */
  abandon(key: string): Promise<void>
}

/** How much is kept; for tests. */
export interface OnceBounds {
  readonly keys: number
  /** All results together, in UTF-8. */
  readonly bytes: number
  /** Calls of `begin` after which what is old is looked for. */
  readonly sweepEvery: number
  /** Calls of `begin` after which all that is kept is counted. */
  readonly countEvery: number
}

/** The table of `createOnceStore`, for the migrations of its database. */
export const ONCE_TABLE = `
CREATE TABLE once (key TEXT PRIMARY KEY, at INTEGER NOT NULL, result TEXT, bytes INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX once_age ON once (at, bytes);
`

const BEGIN = `
INSERT INTO once (key, at) VALUES (:key, :now)
ON CONFLICT (key) DO UPDATE SET at = :now, result = NULL, bytes = 0 WHERE at <= :now - ${ONCE_LIFETIME_MS}`
const READ = 'SELECT result FROM once WHERE key = ?'
const FINISH = `
INSERT INTO once (key, at, result, bytes) VALUES (:key, :now, :result, :bytes)
ON CONFLICT (key) DO UPDATE SET at = :now, result = :result, bytes = :bytes`
const ABANDON = 'DELETE FROM once WHERE key = ?'
const DROP_OLD = 'DELETE FROM once WHERE at <= ?'
const DROP_MOST = `
DELETE FROM once WHERE rowid IN (SELECT rowid FROM once ORDER BY at DESC, rowid DESC LIMIT -1 OFFSET ?)`
const ALL_BYTES = 'SELECT sum(bytes) AS total FROM once'
const DROP_LARGE = `
DELETE FROM once WHERE rowid IN (
  SELECT id FROM (
    SELECT rowid AS id, bytes, sum(bytes) OVER (ORDER BY at DESC, rowid DESC ROWS UNBOUNDED PRECEDING) AS total FROM once
  ) WHERE total > ? AND bytes > 0
)`

/** An `OnceStore` in an SQLite file that has `ONCE_TABLE`; shared by all processes that have it open. */
export function createOnceStore(
  database: Database,
  bounds: OnceBounds = { keys: MOST_KEYS, bytes: MOST_RESULT_BYTES, sweepEvery: SWEEP_EVERY, countEvery: COUNT_EVERY },
): OnceStore {
  const writes = createGroupedWrites(database)
  let begun = 0
  let addedBytes = 0

  function sweep(now: number): void {
    if (begun % bounds.sweepEvery === 0) database.statement(DROP_OLD).run(now - ONCE_LIFETIME_MS)
    if (begun % bounds.countEvery !== 0 && addedBytes * COUNT_SHARE < bounds.bytes) return
    addedBytes = 0
    database.statement(DROP_MOST).run(bounds.keys)
    const total = Number(database.statement(ALL_BYTES).get()?.['total'] ?? 0)
    if (total > bounds.bytes) database.statement(DROP_LARGE).run(bounds.bytes)
  }

  function begin(key: string, now: number): OnceState {
    sweep(now)
    begun += 1
    if (database.statement(BEGIN).run({ key, now }).changes > 0) return { state: 'new' }
    const result = database.statement(READ).get(key)?.['result']
    return typeof result === 'string' ? { state: 'done', result } : { state: 'running' }
  }

  return {
    begin: (key, now) => writes.write(() => begin(storedKey(key), now)),
    finish(key, result, now) {
      const row = { key: storedKey(key), now, result, bytes: Buffer.byteLength(result) }
      addedBytes += row.bytes
      return writes.write(() => void database.statement(FINISH).run(row))
    },
    abandon: (key) => writes.write(() => void database.statement(ABANDON).run(storedKey(key))),
  }
}
