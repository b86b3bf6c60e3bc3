/** The tables of `createInbox`. As with the spool, totals and what belongs to an envelope follow by triggers. */
export const INBOX_TABLES = `
CREATE TABLE inbox (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  received_at INTEGER NOT NULL,
  bytes INTEGER NOT NULL
) STRICT;
CREATE TABLE inbox_bodies (id INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;
CREATE TABLE inbox_items (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  envelope INTEGER NOT NULL,
  position INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  side TEXT NOT NULL,
  group_id TEXT,
  title TEXT NOT NULL,
  route TEXT,
  trace TEXT
) STRICT;
CREATE INDEX inbox_groups ON inbox_items (group_id, id) WHERE group_id IS NOT NULL;
CREATE INDEX inbox_traces ON inbox_items (trace, id) WHERE trace IS NOT NULL;
CREATE INDEX inbox_envelopes ON inbox_items (envelope);

CREATE TABLE inbox_totals (envelopes INTEGER NOT NULL, bytes INTEGER NOT NULL) STRICT;
INSERT INTO inbox_totals VALUES (0, 0);
CREATE TRIGGER inbox_added AFTER INSERT ON inbox BEGIN
  UPDATE inbox_totals SET envelopes = envelopes + 1, bytes = bytes + new.bytes;
END;
CREATE TRIGGER inbox_removed AFTER DELETE ON inbox BEGIN
  UPDATE inbox_totals SET envelopes = envelopes - 1, bytes = bytes - old.bytes;
  DELETE FROM inbox_bodies WHERE id = old.id;
  DELETE FROM inbox_items WHERE envelope = old.id;
END;
`
