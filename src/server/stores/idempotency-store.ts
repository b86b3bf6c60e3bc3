/**
 * Remembers calls that carry an idempotency key, so that a call whose answer was lost does not run twice when it is
 * sent again. Kept for ten minutes; at most 100,000 keys and 64 MiB of results. Beyond that, the largest clients lose
 * their oldest entries, so that no client evicts those of others.
 */
import { cutGreediest, type HeldByClient } from './fair-level.ts'
import { createGroupedWrites } from './grouped-writes.ts'
import type { Database } from './open-database.ts'
import { storedKey } from './stored-key.ts'

/** How long a key is remembered: from the start of its call, and again from its end. Milliseconds. */
export const IDEMPOTENCY_LIFETIME_MS = 600_000

const SWEEP_EVERY = 256 // calls
const COUNT_EVERY = 4_096 // calls, and possible excess over the bound: counting 100,000 keys takes milliseconds
const COUNT_SHARE = 16 // results are counted as well, after this fraction of their bound was added
/** Of all clients. */
export const MOST_KEYS = 100_000 // 160 calls a second
/** Bytes of all results together. */
export const MOST_RESULT_BYTES = 67_108_864

/** State of a key. */
export type IdempotencyState =
  /** Was unknown; now it is running. */
  | { readonly state: 'new' }
  /** Started and not finished. After a crash it stays like this for ten minutes, because its progress is unknown. */
  | { readonly state: 'running' }
  | { readonly state: 'done'; readonly result: string }

/** Remembers which calls have run. Times are in milliseconds since the epoch. */
export interface IdempotencyStore {
  /**
   * Claims a key. Of several concurrent calls, one gets `new`.
   * @param client that sent the call, as `clientKey` names it; calls without one count as one client.
   */
  begin(key: string, now: number, client?: string): Promise<IdempotencyState>
  /** Keeps the result. @param client as for `begin`. */
  finish(key: string, result: string, now: number, client?: string): Promise<void>
  /** Forgets the key, so that the call may run again. */
  abandon(key: string): Promise<void>
}

/** Bounds; for tests. */
export interface IdempotencyBounds {
  readonly keys: number
  /** All results together, in UTF-8. */
  readonly bytes: number
  /** Calls of `begin` between two removals of old keys. */
  readonly sweepEvery: number
  /** Calls of `begin` between two counts of all entries. */
  readonly countEvery: number
}

/** The table of `createIdempotencyStore`, for the migrations of its database. */
export const IDEMPOTENCY_TABLE = `
CREATE TABLE once (key TEXT PRIMARY KEY, at INTEGER NOT NULL, result TEXT, bytes INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX once_age ON once (at, bytes);
`
/** The second migration. */
export const IDEMPOTENCY_CLIENTS = `
ALTER TABLE once ADD COLUMN client TEXT NOT NULL DEFAULT '';
CREATE INDEX once_clients ON once (client, at, bytes);
`

const BEGIN = `
INSERT INTO once (key, at, client) VALUES (:key, :now, :client)
ON CONFLICT (key) DO UPDATE SET at = :now, client = :client, result = NULL, bytes = 0 WHERE at <= :now - ${IDEMPOTENCY_LIFETIME_MS}`
const READ = 'SELECT result FROM once WHERE key = ?'
const FINISH = `
INSERT INTO once (key, at, client, result, bytes) VALUES (:key, :now, :client, :result, :bytes)
ON CONFLICT (key) DO UPDATE SET at = :now, result = :result, bytes = :bytes`
const ABANDON = 'DELETE FROM once WHERE key = ?'
const DROP_OLD = 'DELETE FROM once WHERE at <= ?'
const TOTALS = 'SELECT count(*) AS keys, coalesce(sum(bytes), 0) AS bytes, count(DISTINCT client) AS clients FROM once'
/** Clients above the mean; the level is never below the mean. */
const GREEDIEST = {
  keys: 'SELECT client, count(*) AS amount FROM once GROUP BY client HAVING amount > ? ORDER BY amount DESC',
  bytes: 'SELECT client, sum(bytes) AS amount FROM once GROUP BY client HAVING amount > ? ORDER BY amount DESC',
} as const
/** The oldest entries of a client above the level. */
const DROP_BEYOND = {
  keys: `
DELETE FROM once WHERE rowid IN (
  SELECT rowid FROM once WHERE client = ? ORDER BY at DESC, rowid DESC LIMIT -1 OFFSET ?
)`,
  bytes: `
DELETE FROM once WHERE rowid IN (
  SELECT id FROM (
    SELECT rowid AS id, bytes, sum(bytes) OVER (ORDER BY at DESC, rowid DESC ROWS UNBOUNDED PRECEDING) AS total
    FROM once WHERE client = ?
  ) WHERE total > ? AND bytes > 0
)`,
} as const

/** An `IdempotencyStore` in an SQLite file that has `IDEMPOTENCY_TABLE`; shared by all processes that have it open. */
export function createIdempotencyStore(
  database: Database,
  bounds: IdempotencyBounds = {
    keys: MOST_KEYS,
    bytes: MOST_RESULT_BYTES,
    sweepEvery: SWEEP_EVERY,
    countEvery: COUNT_EVERY,
  },
): IdempotencyStore {
  const writes = createGroupedWrites(database)
  let begun = 0
  let addedBytes = 0

  function sweep(now: number): void {
    if (begun % bounds.sweepEvery === 0) database.statement(DROP_OLD).run(now - IDEMPOTENCY_LIFETIME_MS)
    if (begun % bounds.countEvery !== 0 && addedBytes * COUNT_SHARE < bounds.bytes) return
    addedBytes = 0
    makeRoom('keys')
    makeRoom('bytes')
  }

  /** Cuts the largest clients, as far as necessary. */
  function makeRoom(measure: 'keys' | 'bytes'): void {
    const totals = database.statement(TOTALS).get()
    const [total, clients] = [Number(totals?.[measure]), Number(totals?.['clients'])]
    const most = bounds[measure]
    if (total <= most) return
    const greediest = database.statement(GREEDIEST[measure]).all(Math.floor(most / clients))
    cutGreediest({ total, most }, greediest as unknown as readonly HeldByClient[], (client, level) => {
      database.statement(DROP_BEYOND[measure]).run(client, level)
    })
  }

  function begin(key: string, now: number, client: string): IdempotencyState {
    sweep(now)
    begun += 1
    if (database.statement(BEGIN).run({ key, now, client }).changes > 0) return { state: 'new' }
    const result = database.statement(READ).get(key)?.['result']
    return typeof result === 'string' ? { state: 'done', result } : { state: 'running' }
  }

  return {
    begin: (key, now, client = '') => writes.write(() => begin(storedKey(key), now, storedKey(client))),
    finish(key, result, now, client = '') {
      const row = { key: storedKey(key), now, client: storedKey(client), result, bytes: Buffer.byteLength(result) }
      addedBytes += row.bytes
      return writes.write(() => void database.statement(FINISH).run(row))
    },
    abandon: (key) => writes.write(() => void database.statement(ABANDON).run(storedKey(key))),
  }
}
