/**
 * The amounts that each client has in the spool and in the inbox, third migration of `reports.sqlite`. The spool's are
 * known only while many envelopes wait there (`spool-room.ts`). Older envelopes in the inbox belong to a client without
 * a name.
 */
export const CLIENT_TABLES = `
CREATE TABLE spool_clients (
  client TEXT PRIMARY KEY,
  envelopes INTEGER NOT NULL,
  bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
ALTER TABLE spool_total ADD COLUMN accounted INTEGER NOT NULL DEFAULT 0;
DROP INDEX spool_other;

ALTER TABLE inbox ADD COLUMN client TEXT NOT NULL DEFAULT '';
CREATE INDEX inbox_client ON inbox (client);
CREATE TABLE inbox_clients (
  client TEXT PRIMARY KEY,
  envelopes INTEGER NOT NULL,
  bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO inbox_clients SELECT client, count(*), sum(bytes) FROM inbox GROUP BY client;
CREATE TRIGGER inbox_client_added AFTER INSERT ON inbox BEGIN
  INSERT INTO inbox_clients VALUES (new.client, 1, new.bytes)
  ON CONFLICT (client) DO UPDATE SET envelopes = envelopes + 1, bytes = bytes + new.bytes;
END;
CREATE TRIGGER inbox_client_removed AFTER DELETE ON inbox BEGIN
  UPDATE inbox_clients SET envelopes = envelopes - 1, bytes = bytes - old.bytes WHERE client = old.client;
  DELETE FROM inbox_clients WHERE client = old.client AND envelopes = 0;
END;
`
