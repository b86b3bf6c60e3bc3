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
const COLUMNS = 'key, value, grp AS "group", client, expires_at AS expiresMicros, version, epoch'

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
    held: `SELECT count(*) AS entries FROM ${entries} WHERE client = ? AND expires_at > ?`,
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
