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

/**
 * What each client has, and all together, for the migrations after `storeTables`. Triggers keep them, so that no write
 * has to count the entries. They are not ranked: an index of their amounts would cost each write more than all the rest.
 */
export function storeAccounts(kind: StoreKind['name']): string {
  const [entries, clients, totals] = [`${kind}_entries`, `${kind}_clients`, `${kind}_totals`]
  const add = `
  INSERT INTO ${clients} (client, entries, bytes) VALUES (new.client, 1, new.bytes)
  ON CONFLICT (client) DO UPDATE SET entries = entries + 1, bytes = bytes + excluded.bytes;
  UPDATE ${totals} SET entries = entries + 1, bytes = bytes + new.bytes;`
  const subtract = `
  UPDATE ${clients} SET entries = entries - 1, bytes = bytes - old.bytes WHERE client = old.client;
  DELETE FROM ${clients} WHERE client = old.client AND entries = 0;
  UPDATE ${totals} SET entries = entries - 1, bytes = bytes - old.bytes;`
  return `
CREATE TABLE ${clients} (
  client TEXT PRIMARY KEY, entries INTEGER NOT NULL, bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO ${clients} (client, entries, bytes) SELECT client, count(*), sum(bytes) FROM ${entries} GROUP BY client;
CREATE TABLE ${totals} (entries INTEGER NOT NULL, bytes INTEGER NOT NULL, clients INTEGER NOT NULL) STRICT;
INSERT INTO ${totals} SELECT coalesce(sum(entries), 0), coalesce(sum(bytes), 0), count(*) FROM ${clients};
CREATE TRIGGER ${entries}_added AFTER INSERT ON ${entries} BEGIN${add}
END;
CREATE TRIGGER ${entries}_removed AFTER DELETE ON ${entries} BEGIN${subtract}
END;
CREATE TRIGGER ${entries}_moved AFTER UPDATE OF client, bytes ON ${entries}
WHEN old.client <> new.client OR old.bytes <> new.bytes BEGIN${add}${subtract}
END;
CREATE TRIGGER ${clients}_added AFTER INSERT ON ${clients} BEGIN
  UPDATE ${totals} SET clients = clients + 1;
END;
CREATE TRIGGER ${clients}_removed AFTER DELETE ON ${clients} BEGIN
  UPDATE ${totals} SET clients = clients - 1;
END;
`
}

/** Columns of a `StoredEntry`, with its moment in microseconds. */
const COLUMNS = 'key, value, grp AS "group", client, expires_at AS expiresMicros, version, epoch'

/** Statements of a kind. Constant texts, as `Database.statement` asks. */
export type StoreStatements = ReturnType<typeof storeStatements>

/** @param kind whose tables they name. */
export function storeStatements(kind: StoreKind['name']) {
  const [entries, epochs, clients] = [`${kind}_entries`, `${kind}_epochs`, `${kind}_clients`]
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
    removeVersion: `DELETE FROM ${entries} WHERE key = ? AND grp = ? AND version = ?`,
    isExpired: `SELECT 1 FROM ${entries} WHERE expires_at <= ? LIMIT 1`,
    removeExpired: `
DELETE FROM ${entries} WHERE key IN (
  SELECT key FROM ${entries} WHERE expires_at <= ? ORDER BY expires_at LIMIT ?
)`,
    removeExpiredOfClient: `
DELETE FROM ${entries} WHERE key IN (
  SELECT key FROM ${entries} WHERE client = ? AND expires_at <= ? ORDER BY expires_at LIMIT ?
)`,
    removeExpiredOfGroup: `DELETE FROM ${entries} WHERE grp = ? AND grp <> '' AND expires_at <= ?`,
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
    removeEpochs: `
DELETE FROM ${epochs} WHERE grp IN (SELECT grp FROM ${epochs} WHERE epoch <= ? ORDER BY epoch LIMIT ?)`,
    epochs: `SELECT count(*) AS epochs FROM ${epochs}`,
    take: `
INSERT INTO ${entries} (key, client, expires_at) VALUES (:key, :client, :now + :interval)
ON CONFLICT (key) DO UPDATE SET
  client = CASE WHEN expires_at > :now THEN client ELSE :client END, expires_at = ${taken}
WHERE ${taken} <= :now + :window`,
    takeKnown: `
UPDATE ${entries} SET expires_at = expires_at + :interval
WHERE key = :key AND expires_at > :now AND expires_at + :interval <= :now + :window`,
    bringBack: `UPDATE ${entries} SET expires_at = :latest WHERE key = :key AND expires_at > :latest`,
    held: `SELECT entries, bytes FROM ${clients} WHERE client = ?`,
    totals: `SELECT entries, bytes, clients FROM ${kind}_totals`,
    /** The clients that have most. None, if no client has more than one entry. Reads all clients. */
    greediest: {
      entries: `
SELECT client, entries AS amount FROM ${clients} WHERE entries > 1 ORDER BY entries DESC LIMIT ?`,
      bytes: `SELECT client, bytes AS amount FROM ${clients} WHERE bytes > 0 ORDER BY bytes DESC LIMIT ?`,
    },
    /** Of a client, the entry that expires first, but for one. Without a value, an entry frees no bytes. */
    removeFirst: {
      entries: `
DELETE FROM ${entries} WHERE key = (
  SELECT key FROM ${entries} WHERE client = ? AND key <> ? ORDER BY expires_at LIMIT 1
) RETURNING bytes`,
      bytes: `
DELETE FROM ${entries} WHERE key = (
  SELECT key FROM ${entries} WHERE client = ? AND key <> ? AND bytes > 0 ORDER BY expires_at LIMIT 1
) RETURNING bytes`,
    },
    removeFirstOfAll: `
DELETE FROM ${entries} WHERE key = (SELECT key FROM ${entries} WHERE key <> ? ORDER BY expires_at LIMIT 1)
RETURNING bytes`,
  }
}
