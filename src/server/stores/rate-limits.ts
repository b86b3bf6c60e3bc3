/**
 * Rate limits by the generic cell rate algorithm (ITU-T I.371). A key stores the moment at which all its points are
 * back: that many calls may come at once, and one more for each point that returns, without a window at whose edge
 * twice as many pass. At most 100,000 keys. Full ones are dropped; beyond the bound, the clients with most keys lose
 * those that are next to be full. Applications may use visitors' input as keys, such as email addresses, and no visitor
 * may lift the limits of others by inventing keys.
 */
import { countGreediest, cutGreediest, type HeldByClient } from './fair-level.ts'
import type { Database } from './open-database.ts'
import { storedKey } from './stored-key.ts'

const SWEEP_EVERY = 256 // calls, and possible excess over the bound
/** Of all clients. */
export const MOST_KEYS = 100_000
const MICROS = 1_000 // per millisecond: whole numbers add up without rounding errors

/** Counts calls by key. */
export interface RateLimits {
  /**
   * Takes a point; a refused call takes none. Use each key with one limit only.
   * @param limit `points` is a whole number from 1, `seconds` is above 0.
   * @param now milliseconds since the epoch.
   * @param client that the call is for, as `clientKey` names it; keys without one count as one client's.
   * @throws {RangeError} for an invalid limit.
   * @returns `retryAfterSeconds` in whole seconds.
   */
  take(key: string, limit: RateLimit, now: number, client?: string): Promise<RateLimitResult>
}

/** A limit in whole microseconds. */
export interface RateCells {
  /** Time until all points are back. */
  readonly window: number
  /** Time until one point is back. */
  readonly interval: number
}

/** @throws {RangeError} for an invalid limit. */
export function rateCells({ points, seconds }: RateLimit): RateCells {
  if (!(Number.isInteger(points) && points >= 1 && Number.isFinite(seconds) && seconds > 0)) {
    throw new RangeError(
      `A limit of ${points} points in ${seconds} seconds: points must be a whole number from 1, and seconds above 0`,
    )
  }
  const window = Math.ceil(seconds * 1_000 * MICROS)
  return { window, interval: Math.max(1, Math.floor(window / points)) }
}

/** A moment in whole microseconds. @param ms milliseconds since the epoch. */
export function rateMoment(ms: number): number {
  return Math.round(ms * MICROS)
}

/**
 * The result for a refused call.
 * @param fullAt moment at which all points are back.
 */
export function refusal(fullAt: number, now: number, { window, interval }: RateCells): RateLimitResult {
  const wait = fullAt + interval - window - now
  return { allowed: false, retryAfterSeconds: Math.max(1, Math.ceil(wait / 1_000 / MICROS)) }
}

/** Bounds; for tests. */
export interface RateBounds {
  readonly keys: number
  /** Calls of `take` between two clean-ups. */
  readonly sweepEvery: number
}

/** The table of `createRateLimits`, for the migrations of its database. Times in microseconds since the epoch. */
export const RATE_TABLE = `
CREATE TABLE rate_limits (key TEXT PRIMARY KEY, full_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX rate_limits_age ON rate_limits (full_at);
`
/** The second migration. */
export const RATE_CLIENTS = `
ALTER TABLE rate_limits ADD COLUMN client TEXT NOT NULL DEFAULT '';
CREATE INDEX rate_limits_clients ON rate_limits (client, full_at);
`

const TAKEN = 'max(full_at, :now) + :interval'
const TAKE = `
INSERT INTO rate_limits (key, full_at, client) VALUES (:key, :now + :interval, :client)
ON CONFLICT (key) DO UPDATE SET full_at = ${TAKEN} WHERE ${TAKEN} <= :now + :window`
const READ = 'SELECT full_at FROM rate_limits WHERE key = ?'
// A clock that was set back must not block anybody: no moment is further ahead than the limit's window.
const BRING_BACK = 'UPDATE rate_limits SET full_at = :latest WHERE key = :key AND full_at > :latest'
const DROP_FULL = 'DELETE FROM rate_limits WHERE full_at <= ?'
const TOTALS = 'SELECT count(*) AS keys, count(DISTINCT client) AS clients FROM rate_limits'
/** Clients above the mean; the level is never below the mean. */
const GREEDIEST = `
SELECT client, count(*) AS amount FROM rate_limits GROUP BY client HAVING amount > ? ORDER BY amount DESC LIMIT ?`
const DROP_BEYOND = `
DELETE FROM rate_limits WHERE key IN (
  SELECT key FROM rate_limits WHERE client = ? ORDER BY full_at DESC LIMIT -1 OFFSET ?
)`

/** `RateLimits` in an SQLite file that has `RATE_TABLE`; shared by all processes that have it open. */
export function createRateLimits(
  database: Database,
  bounds: RateBounds = { keys: MOST_KEYS, sweepEvery: SWEEP_EVERY },
): RateLimits {
  let taken = 0

  function makeRoom(): void {
    const totals = database.statement(TOTALS).get()
    const [total, clients] = [Number(totals?.['keys']), Number(totals?.['clients'])]
    const most = bounds.keys
    if (total <= most) return
    const greediest = database
      .statement(GREEDIEST)
      .all(Math.floor(most / clients), countGreediest({ total, most, clients }))
    cutGreediest({ total, most }, greediest as unknown as readonly HeldByClient[], (client, level) => {
      database.statement(DROP_BEYOND).run(client, level)
    })
  }

  return {
    async take(key, limit, nowMs, client = '') {
      const cells = rateCells(limit)
      const { window, interval } = cells
      const now = rateMoment(nowMs)
      if (taken % bounds.sweepEvery === 0) {
        database.statement(DROP_FULL).run(now)
        makeRoom()
      }
      taken += 1
      const stored = storedKey(key)
      const by = storedKey(client)
      const { changes } = database.statement(TAKE).run({ key: stored, now, window, interval, client: by })
      if (changes > 0) return { allowed: true, retryAfterSeconds: 0 }
      const latest = now + window
      const stands = Number(database.statement(READ).get(stored)?.['full_at'] ?? latest)
      if (stands > latest) database.statement(BRING_BACK).run({ key: stored, latest })
      return refusal(Math.min(stands, latest), now, cells)
    },
  }
}

/** How often something may be done. */
export interface RateLimit {
  readonly points: number
  readonly seconds: number
}

/** Whether it may be done once more. */
export interface RateLimitResult {
  readonly allowed: boolean
  /** 0 if allowed. */
  readonly retryAfterSeconds: number
}
