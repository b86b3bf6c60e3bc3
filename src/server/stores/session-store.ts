/**
 * Sessions of signed-in users, kept on the server. Ids are hashes, so a copy of the file signs nobody in. Expired
 * sessions are deleted every 64 writes. Beyond the bound, the clients that started most of them lose those that were
 * seen least recently.
 */
import { countGreediest, cutGreediest, type HeldByClient } from './fair-level.ts'
import { createGroupedWrites } from './grouped-writes.ts'
import { openDatabase, type Database } from './open-database.ts'

const SWEEP_EVERY = 64 // writes, and possible excess over the bound
/** Of all users; about 100 MB with half a kilobyte each. */
export const MOST_SESSIONS = 200_000

/** A session at rest. Times in milliseconds since the epoch. */
export interface KeptSession {
  /** Hash of the id in the cookie. */
  readonly id: string
  /** Its user and kind, in bounded length. */
  readonly user: string
  /** Client that started it, as `clientKey` names it. */
  readonly client: string
  /** JSON. */
  readonly data: string
  /** Bounded. */
  readonly userAgent: string
  readonly startedAt: number
  readonly seenAt: number
  /** Later reads find nothing. */
  readonly expiresAt: number
}

/** Keeps sessions. All members may fail if the store is unavailable. */
export interface SessionStore {
  /** @returns `undefined` if it has ended or expired. */
  read(id: string, now: number): Promise<KeptSession | undefined>
  /**
   * Keeps a new session.
   * @param mostOfUser the user's sessions beyond this number that expire first are ended.
   */
  start(session: KeptSession, mostOfUser: number): Promise<void>
  /** Replaces the data. @returns `false` if the session has ended; it is not revived. */
  write(id: string, data: string): Promise<boolean>
  /** Notes a use. Does nothing if the session has ended. */
  touch(session: Pick<KeptSession, 'id' | 'user' | 'seenAt' | 'expiresAt'>): Promise<void>
  /** The user's sessions that have not expired, most recently seen first. */
  list(user: string, now: number): Promise<readonly KeptSession[]>
  /** Ends sessions of a user. Ids of others are ignored. @returns how many have ended. */
  end(user: string, ids: readonly string[]): Promise<number>
}

/** Bounds; for tests. */
export interface SessionStoreBounds {
  readonly sessions: number
  readonly sweepEvery: number
}

const TABLES = `
CREATE TABLE sessions (
  id TEXT PRIMARY KEY, user TEXT NOT NULL, client TEXT NOT NULL, data TEXT NOT NULL, user_agent TEXT NOT NULL,
  started_at INTEGER NOT NULL, seen_at INTEGER NOT NULL, expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_user ON sessions (user, expires_at);
CREATE INDEX sessions_age ON sessions (expires_at);
CREATE INDEX sessions_client ON sessions (client, seen_at);
`
const COLUMNS = `id, user, client, data, user_agent AS userAgent, started_at AS startedAt, seen_at AS seenAt,
  expires_at AS expiresAt`
const READ = `SELECT ${COLUMNS} FROM sessions WHERE id = ? AND expires_at > ?`
const LIST = `SELECT ${COLUMNS} FROM sessions WHERE user = ? AND expires_at > ? ORDER BY seen_at DESC, id`
const START = `
INSERT INTO sessions (id, user, client, data, user_agent, started_at, seen_at, expires_at)
VALUES (:id, :user, :client, :data, :userAgent, :startedAt, :seenAt, :expiresAt)`
const DROP_OF_USER = `
DELETE FROM sessions WHERE id IN (
  SELECT id FROM sessions WHERE user = :user AND id <> :id ORDER BY expires_at DESC LIMIT -1 OFFSET :kept
)`
const WRITE = 'UPDATE sessions SET data = ? WHERE id = ?'
const TOUCH = 'UPDATE sessions SET seen_at = :seenAt, expires_at = :expiresAt WHERE id = :id AND seen_at < :seenAt'
const END = 'DELETE FROM sessions WHERE id = ? AND user = ?'
const DROP_EXPIRED = 'DELETE FROM sessions WHERE expires_at <= ?'
const TOTALS = 'SELECT count(*) AS total, count(DISTINCT client) AS clients FROM sessions'
const GREEDIEST = `
SELECT client, count(*) AS amount FROM sessions GROUP BY client HAVING amount > ? ORDER BY amount DESC LIMIT ?`
const DROP_BEYOND = `
DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE client = ? ORDER BY seen_at DESC LIMIT -1 OFFSET ?)`

/** Opens the file of sessions; every process of an instance uses the same one. */
export function openSessionDatabase(path: string): Database {
  return openDatabase({ path, migrations: [TABLES] })
}

/** A `SessionStore` in a file of `openSessionDatabase`. */
export function createSessionStore(
  database: Database,
  { sessions: most, sweepEvery }: SessionStoreBounds = { sessions: MOST_SESSIONS, sweepEvery: SWEEP_EVERY },
): SessionStore {
  const writes = createGroupedWrites(database)
  let written = 0

  function sweep(now: number): void {
    written += 1
    if (written % sweepEvery !== 0) return
    database.statement(DROP_EXPIRED).run(now)
    const totals = database.statement(TOTALS).get()
    const [total, clients] = [Number(totals?.['total']), Number(totals?.['clients'])]
    if (total <= most) return
    const asked = countGreediest({ total, most, clients })
    const greediest = database.statement(GREEDIEST).all(Math.floor(most / clients), asked)
    cutGreediest({ total, most }, greediest as unknown as readonly HeldByClient[], (client, level) => {
      database.statement(DROP_BEYOND).run(client, level)
    })
  }

  return {
    read: async (id, now) => database.statement(READ).get(id, now) as unknown as KeptSession | undefined,
    start: (session, mostOfUser) =>
      writes.write(() => {
        const { id, user, seenAt } = session
        database.statement(START).run({ ...session })
        database.statement(DROP_OF_USER).run({ id, user, kept: mostOfUser - 1 })
        sweep(seenAt)
      }),
    write: (id, data) => writes.write(() => database.statement(WRITE).run(data, id).changes > 0),
    touch: ({ id, seenAt, expiresAt }) =>
      writes.write(() => {
        database.statement(TOUCH).run({ id, seenAt, expiresAt })
        sweep(seenAt)
      }),
    list: async (user, now) => database.statement(LIST).all(user, now) as unknown as KeptSession[],
    end: (user, ids) =>
      writes.write(() => ids.reduce((ended, id) => ended + Number(database.statement(END).run(id, user).changes), 0)),
  }
}
