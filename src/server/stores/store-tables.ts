import type { StoreKind } from './store.ts'

/**
 * The tables of a kind, for the migrations of the file that has its entries. Moments are in microseconds since the
 * epoch; epochs, which are moments too, in milliseconds.
 */
export function storeTables(kind: StoreKind['name']): string {
  return `
CREATE TABLE ${kind}_entries (
  key TEXT PRIMARY KEY, value TEXT NOT NULL DEFAULT '', grp TEXT NOT NULL DEFAULT '', client TEXT NOT NULL,
  expires_at INTEGER NOT NULL, version INTEGER NOT NULL DEFAULT 1, epoch INTEGER NOT NULL DEFAULT 0,
  bytes INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX ${kind}_entries_age ON ${kind}_entries (expires_at);
CREATE INDEX ${kind}_entries_clients ON ${kind}_entries (client, expires_at, bytes);
CREATE INDEX ${kind}_entries_groups ON ${kind}_entries (grp, expires_at) WHERE grp <> '';
CREATE TABLE ${kind}_epochs (grp TEXT PRIMARY KEY, epoch INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX ${kind}_epochs_age ON ${kind}_epochs (epoch);
`
}

/** Columns of a `StoredEntry`, with its moment in microseconds. */
export const COLUMNS = 'key, value, grp AS "group", client, expires_at AS expiresMicros, version, epoch'

/** Statements of a kind. Constant texts, as `Database.statement` asks. */
export type StoreStatements = ReturnType<typeof storeStatements>

/** @param kind whose tables they name. */
export function storeStatements(kind: StoreKind['name']) {
  const [entries, epochs] = [`${kind}_entries`, `${kind}_epochs`]
  const put = `
INSERT INTO ${entries} (key, value, grp, client, expires_at, epoch, bytes)
VALUES (:key, :value, :group, :client, :expiresMicros, :epoch, :bytes)
ON CONFLICT (key) DO UPDATE SET value = :value, grp = :group, client = :client, expires_at = :expiresMicros,
  version = version + 1, epoch = :epoch, bytes = :bytes`
  const taken = `max(expires_at, :now) + :interval`
  return {
    get: `SELECT ${COLUMNS} FROM ${entries} WHERE key = ? AND expires_at > ?`,
    list: `SELECT ${COLUMNS} FROM ${entries} WHERE grp = ? AND grp <> '' AND expires_at > ?`,
    put: `${put} RETURNING version`,
    putAbsent: `${put} WHERE expires_at <= :now RETURNING version`,
    remove: `DELETE FROM ${entries} WHERE key = ? AND grp = ?`,
    removeExpired: `DELETE FROM ${entries} WHERE expires_at <= ?`,
    removeOfGroup: `DELETE FROM ${entries} WHERE grp = :group AND grp <> '' AND key <> :except`,
    removeBeyondGroup: `
DELETE FROM ${entries} WHERE key IN (
  SELECT key FROM ${entries} WHERE grp = :group AND grp <> '' AND key <> :key
  ORDER BY expires_at DESC, key LIMIT -1 OFFSET :kept
)`,
    adopt: `UPDATE ${entries} SET epoch = :epoch WHERE key = :key AND grp = :group`,
    epoch: `SELECT epoch FROM ${epochs} WHERE grp = ?`,
    advance: `
INSERT INTO ${epochs} (grp, epoch) VALUES (:group, :now)
ON CONFLICT (grp) DO UPDATE SET epoch = max(epoch + 1, :now) RETURNING epoch`,
    removeEpochs: `DELETE FROM ${epochs} WHERE epoch <= ?`,
    removeBeyondEpochs: `
DELETE FROM ${epochs} WHERE grp IN (SELECT grp FROM ${epochs} ORDER BY epoch DESC LIMIT -1 OFFSET ?)`,
    take: `
INSERT INTO ${entries} (key, client, expires_at) VALUES (:key, :client, :now + :interval)
ON CONFLICT (key) DO UPDATE SET
  client = CASE WHEN expires_at > :now THEN client ELSE :client END, expires_at = ${taken}
WHERE ${taken} <= :now + :window`,
    bringBack: `UPDATE ${entries} SET expires_at = :latest WHERE key = :key AND expires_at > :latest`,
    totals: `
SELECT count(*) AS entries, coalesce(sum(bytes), 0) AS bytes, count(DISTINCT client) AS clients FROM ${entries}`,
    /** Clients above an amount, largest first. */
    greediest: {
      entries: `
SELECT client, count(*) AS amount FROM ${entries} GROUP BY client HAVING amount > ? ORDER BY amount DESC LIMIT ?`,
      bytes: `
SELECT client, sum(bytes) AS amount FROM ${entries} GROUP BY client HAVING amount > ? ORDER BY amount DESC LIMIT ?`,
    },
    /** Those of a client beyond a level that expire first. Without a value, an entry frees no bytes. */
    removeBeyond: {
      entries: `
DELETE FROM ${entries} WHERE key IN (
  SELECT key FROM ${entries} WHERE client = ? ORDER BY expires_at DESC, key LIMIT -1 OFFSET ?
)`,
      bytes: `
DELETE FROM ${entries} WHERE key IN (
  SELECT key FROM (
    SELECT key, bytes, sum(bytes) OVER (ORDER BY expires_at DESC, key ROWS UNBOUNDED PRECEDING) AS total
    FROM ${entries} WHERE client = ?
  ) WHERE total > ? AND bytes > 0
)`,
    },
  }
}

/** What `runtime.sqlite` had before the store, and its way to it: counts and calls of some minutes are not taken along. */
export const FORMER_RUNTIME: readonly string[] = [
  `
CREATE TABLE once (key TEXT PRIMARY KEY, at INTEGER NOT NULL, result TEXT, bytes INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX once_age ON once (at, bytes);

CREATE TABLE rate_limits (key TEXT PRIMARY KEY, full_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX rate_limits_age ON rate_limits (full_at);
`,
  `
ALTER TABLE once ADD COLUMN client TEXT NOT NULL DEFAULT '';
CREATE INDEX once_clients ON once (client, at, bytes);

ALTER TABLE rate_limits ADD COLUMN client TEXT NOT NULL DEFAULT '';
CREATE INDEX rate_limits_clients ON rate_limits (client, full_at);
`,
  'DROP TABLE once; DROP TABLE rate_limits;',
]
/** What `sessions.sqlite` had before the store. */
export const FORMER_SESSIONS = `
CREATE TABLE sessions (
  id TEXT PRIMARY KEY, user TEXT NOT NULL, client TEXT NOT NULL, data TEXT NOT NULL, user_agent TEXT NOT NULL,
  started_at INTEGER NOT NULL, seen_at INTEGER NOT NULL, expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_user ON sessions (user, expires_at);
CREATE INDEX sessions_age ON sessions (expires_at);
CREATE INDEX sessions_client ON sessions (client, seen_at);
`
/** Takes sessions of before the store along, as `session-store.ts` keeps them: nobody is signed out. */
export const ADOPT_SESSIONS = `
INSERT INTO sessions_entries (key, value, grp, client, expires_at, bytes)
SELECT id, value, user, client, expires_at * 1000, length(CAST(value AS BLOB)) FROM (
  SELECT *, json_object('userAgent', user_agent, 'startedAt', started_at, 'seenAt', seen_at) || char(10) || data AS value
  FROM sessions
);
DROP TABLE sessions;
`
