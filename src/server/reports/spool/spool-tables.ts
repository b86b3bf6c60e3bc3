/**
 * The tables of `createSpool` and `createDeliveryLease`. Everything of an envelope is in one row, its body last: most of
 * that is in overflow pages, which looking for the next envelope does not read. No triggers, because each makes SQLite
 * copy the pages that it changes. No id is given twice: the last one is stored with the totals, in a row that every
 * commit writes. The amounts of each client, and the index for them, exist only while many envelopes wait
 * (`spool-room.ts`).
 */
export const SPOOL_TABLES = `
CREATE TABLE spool (
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
CREATE INDEX spool_order ON spool (destination, kind);

CREATE TABLE spool_total (
  envelopes INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  last_id INTEGER NOT NULL,
  accounted INTEGER NOT NULL
) STRICT;
INSERT INTO spool_total VALUES (0, 0, 0, 0);

CREATE TABLE spool_clients (
  client TEXT PRIMARY KEY,
  envelopes INTEGER NOT NULL,
  bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

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
