/**
 * The tables of `createInbox`. Triggers maintain totals, the amounts of each client, and the facts that the list shows
 * for each group, so that one page can be read without the index of all failures.
 */
export const INBOX_TABLES = `
CREATE TABLE inbox (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  received_at INTEGER NOT NULL,
  client TEXT NOT NULL,
  bytes INTEGER NOT NULL
) STRICT;
CREATE INDEX inbox_client ON inbox (client);
CREATE TABLE inbox_bodies (id INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;
CREATE TABLE inbox_items (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  envelope INTEGER NOT NULL,
  position INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  side TEXT NOT NULL,
  level TEXT NOT NULL,
  group_id TEXT,
  title TEXT NOT NULL,
  route TEXT,
  release TEXT,
  digest TEXT,
  event_id TEXT,
  trace TEXT
) STRICT;
CREATE INDEX inbox_groups ON inbox_items (group_id, id) WHERE group_id IS NOT NULL;
CREATE INDEX inbox_traces ON inbox_items (trace, id) WHERE trace IS NOT NULL;
CREATE INDEX inbox_digests ON inbox_items (digest, id) WHERE digest IS NOT NULL;
CREATE INDEX inbox_event_ids ON inbox_items (event_id, id) WHERE event_id IS NOT NULL;
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

CREATE TABLE inbox_clients (
  client TEXT PRIMARY KEY,
  envelopes INTEGER NOT NULL,
  bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER inbox_client_added AFTER INSERT ON inbox BEGIN
  INSERT INTO inbox_clients VALUES (new.client, 1, new.bytes)
  ON CONFLICT (client) DO UPDATE SET envelopes = envelopes + 1, bytes = bytes + new.bytes;
END;
CREATE TRIGGER inbox_client_removed AFTER DELETE ON inbox BEGIN
  UPDATE inbox_clients SET envelopes = envelopes - 1, bytes = bytes - old.bytes WHERE client = old.client;
  DELETE FROM inbox_clients WHERE client = old.client AND envelopes = 0;
END;

CREATE TABLE inbox_failures (
  group_id TEXT PRIMARY KEY,
  newest INTEGER NOT NULL,
  events INTEGER NOT NULL,
  server INTEGER NOT NULL,
  browser INTEGER NOT NULL,
  elsewhere INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX inbox_failures_order ON inbox_failures (newest);
CREATE TRIGGER inbox_failure_added AFTER INSERT ON inbox_items WHEN new.group_id IS NOT NULL BEGIN
  INSERT INTO inbox_failures
  VALUES (new.group_id, new.id, 1, new.side = 'server', new.side = 'browser', new.side = 'elsewhere')
  ON CONFLICT (group_id) DO UPDATE SET
    newest = excluded.newest, events = events + 1, server = server + excluded.server,
    browser = browser + excluded.browser, elsewhere = elsewhere + excluded.elsewhere;
END;
CREATE TRIGGER inbox_failure_removed AFTER DELETE ON inbox_items WHEN old.group_id IS NOT NULL BEGIN
  UPDATE inbox_failures SET
    newest = CASE newest WHEN old.id
      THEN coalesce((SELECT max(id) FROM inbox_items WHERE group_id = old.group_id), 0) ELSE newest END,
    events = events - 1, server = server - (old.side = 'server'), browser = browser - (old.side = 'browser'),
    elsewhere = elsewhere - (old.side = 'elsewhere')
  WHERE group_id = old.group_id;
  DELETE FROM inbox_failures WHERE group_id = old.group_id AND events = 0;
END;
`
