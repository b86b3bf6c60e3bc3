/**
 * Idempotency: what has become of calls that carry a key, so that a call which is sent again after its answer was lost
 * does not run again. Kept for ten minutes; at most 100,000 keys and 64 MiB of results. Beyond that, the clients that hold
 * most lose their oldest, so that no client pushes out what others have.
 */
import { countGreediest, cutGreediest, type HeldByClient } from './fair-level.ts'
import { createGroupedWrites } from './grouped-writes.ts'
import type { Database } from './open-database.ts'
import { storedKey } from './stored-key.ts'

/** For how long a key is remembered: from its beginning, and again from its end. Milliseconds. */
export const IDEMPOTENCY_LIFETIME_MS = 600_000

const SWEEP_EVERY = 256 // calls
const COUNT_EVERY = 4_096 // calls, by as many of which the bound may be passed: to count 100,000 keys takes milliseconds
const COUNT_SHARE = 16 // results are counted, too, once so small a part of their bound has been added
/** Of all clients. */
export const MOST_KEYS = 100_000 // 160 calls a second
/** Bytes of all results together. */
export const MOST_RESULT_BYTES = 67_108_864

/** What is known of a key. */
export type IdempotencyState =
  /** Nothing until now; from now on it is running. */
  | { readonly state: 'new' }
  /** Begun and not ended. After a crash it stays so for ten minutes: nobody knows how far it has come. */
  | { readonly state: 'running' }
  | { readonly state: 'done'; readonly result: string }

/** Remembers which calls have run. Times are in milliseconds since the epoch. */
export interface IdempotencyStore {
  /**
   * Asks for the right to run. Of several that ask at once, one is told `new`.
   * @param client whose call it is, as `clientKey` names it; those without one count as one client.
   */
  begin(key: string, now: number, client?: string): Promise<IdempotencyState>
  /** Keeps the result. @param client as for `begin`. */
  finish(key: string, result: string, now: number, client?: string): Promise<void>
  /** Forgets the key, so that the call may run again. */
  abandon(key: string): Promise<void>
}

/** How much is kept; for tests. */
export interface IdempotencyBounds {
  readonly keys: number
  /** All results together, in UTF-8. */
  readonly bytes: number
  /** Calls of `begin` after which what is old is looked for. */
  readonly sweepEvery: number
  /** Calls of `begin` after which all that is kept is counted. */
  readonly countEvery: number
}

/** The table of `createIdempotencyStore`, for the migrations of its database. */
export const IDEMPOTENCY_TABLE = `
CREATE TABLE once (key TEXT PRIMARY KEY, at INTEGER NOT NULL, result TEXT, bytes INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX once_age ON once (at, bytes);
`
/** What came later, for the same. */
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
/** Clients that hold more than the mean, which no level is below. */
const GREEDIEST = {
  keys: 'SELECT client, count(*) AS amount FROM once GROUP BY client HAVING amount > ? ORDER BY amount DESC LIMIT ?',
  bytes: 'SELECT client, sum(bytes) AS amount FROM once GROUP BY client HAVING amount > ? ORDER BY amount DESC LIMIT ?',
} as const
/** Of one client, the oldest beyond a level. */
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

  /** As much as is needed, of those who hold most. */
  function makeRoom(measure: 'keys' | 'bytes'): void {
    const totals = database.statement(TOTALS).get()
    const [total, clients] = [Number(totals?.[measure]), Number(totals?.['clients'])]
    const most = bounds[measure]
    if (total <= most) return
    const asked = countGreediest({ total, most, clients })
    const greediest = database.statement(GREEDIEST[measure]).all(Math.floor(most / clients), asked)
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
