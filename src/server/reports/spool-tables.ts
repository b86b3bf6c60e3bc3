/**
 * The tables of `createSpool` and `createDeliveryLease`. Bodies have a table of their own, so that looking for what to
 * send next passes over small rows only. Totals and bodies follow by triggers and cannot be forgotten.
 */
export const SPOOL_TABLES = `
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
