/** The first tables of `createSpool` and `createDeliveryLease`: bodies beside their rows, totals by triggers. */
const FIRST_TABLES = `
CREATE TABLE spool (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  destination TEXT NOT NULL,
  kind TEXT NOT NULL,
  keep INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  client TEXT NOT NULL,
  event_id TEXT,
  categories TEXT NOT NULL,
  headers TEXT NOT NULL,
  bytes INTEGER NOT NULL
) STRICT;
CREATE INDEX spool_order ON spool (destination, kind);
CREATE INDEX spool_keep ON spool (keep);

CREATE TABLE spool_bodies (id INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;

CREATE TABLE spool_totals (keep INTEGER PRIMARY KEY, envelopes INTEGER NOT NULL, bytes INTEGER NOT NULL) STRICT;
INSERT INTO spool_totals VALUES (0, 0, 0), (1, 0, 0);
CREATE TRIGGER spool_added AFTER INSERT ON spool BEGIN
  UPDATE spool_totals SET envelopes = envelopes + 1, bytes = bytes + new.bytes WHERE keep = new.keep;
END;
CREATE TRIGGER spool_removed AFTER DELETE ON spool BEGIN
  UPDATE spool_totals SET envelopes = envelopes - 1, bytes = bytes - old.bytes WHERE keep = old.keep;
  DELETE FROM spool_bodies WHERE id = old.id;
END;

CREATE TABLE spool_losses (
  destination TEXT NOT NULL,
  reason TEXT NOT NULL,
  category TEXT NOT NULL,
  quantity INTEGER NOT NULL,
  PRIMARY KEY (destination, reason, category)
) STRICT, WITHOUT ROWID;

CREATE TABLE spool_leases (
  destination TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`

/**
 * Everything of an envelope in one row, its body last: most of that is in overflow pages, which looking for the next
 * envelope does not read. No triggers, because each makes SQLite copy the pages that it changes. Only the entries that
 * are evicted first have an index for that; the others are evicted when nothing else is left, in the order of rows. No
 * id is given twice: the last one is stored with the totals, in a row that every commit writes.
 */
const ONE_TABLE = `
CREATE TABLE spool_rows (
  id INTEGER PRIMARY KEY,
  destination TEXT NOT NULL,
  kind TEXT NOT NULL,
  keep INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  client TEXT NOT NULL,
  event_id TEXT,
  categories TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  headers TEXT NOT NULL,
  body BLOB NOT NULL
) STRICT;
INSERT INTO spool_rows (id, destination, kind, keep, received_at, client, event_id, categories, bytes, headers, body)
SELECT id, destination, kind, keep, received_at, client, event_id, categories, bytes, headers, body
FROM spool JOIN spool_bodies USING (id);
CREATE TABLE spool_total (envelopes INTEGER NOT NULL, bytes INTEGER NOT NULL, last_id INTEGER NOT NULL) STRICT;
INSERT INTO spool_total
SELECT count(*), coalesce(sum(bytes), 0), coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'spool'), 0)
FROM spool_rows;
DROP TABLE spool;
DROP TABLE spool_bodies;
DROP TABLE spool_totals;
ALTER TABLE spool_rows RENAME TO spool;
CREATE INDEX spool_order ON spool (destination, kind);
CREATE INDEX spool_other ON spool (keep) WHERE keep = 0;
`

/** The tables of `createSpool` and `createDeliveryLease`, as migrations. */
export const SPOOL_MIGRATIONS: readonly [string, string] = [FIRST_TABLES, ONE_TABLE]
