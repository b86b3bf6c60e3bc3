import { join } from 'node:path'
import { openDatabase, type Database } from 'millrace/server'

const TABLES = `
CREATE TABLE users (
  id TEXT PRIMARY KEY, email TEXT NOT NULL UNIQUE, name TEXT NOT NULL, role TEXT NOT NULL, locale TEXT NOT NULL,
  token TEXT UNIQUE, draft TEXT NOT NULL DEFAULT '{}'
) STRICT;
CREATE TABLE tickets (
  id INTEGER PRIMARY KEY, subject TEXT NOT NULL, topic TEXT NOT NULL, status TEXT NOT NULL,
  customer TEXT NOT NULL REFERENCES users, agent TEXT REFERENCES users, created INTEGER NOT NULL, updated INTEGER NOT NULL
) STRICT;
CREATE TABLE comments (
  id INTEGER PRIMARY KEY, ticket INTEGER NOT NULL REFERENCES tickets, author TEXT NOT NULL REFERENCES users,
  text TEXT NOT NULL, at INTEGER NOT NULL
) STRICT;
CREATE INDEX comments_ticket ON comments (ticket);
CREATE TABLE files (id TEXT PRIMARY KEY, comment INTEGER NOT NULL REFERENCES comments, name TEXT NOT NULL) STRICT;
CREATE TABLE changes (
  id INTEGER PRIMARY KEY, ticket INTEGER NOT NULL REFERENCES tickets, actor TEXT REFERENCES users,
  status TEXT NOT NULL, at INTEGER NOT NULL
) STRICT;
CREATE TABLE mails (
  id INTEGER PRIMARY KEY AUTOINCREMENT, recipient TEXT NOT NULL, subject TEXT NOT NULL, text TEXT NOT NULL
) STRICT;
`
const TRIES = 'ALTER TABLE mails ADD COLUMN tries INTEGER NOT NULL DEFAULT 0'
const opened = new Map<string, Database>()

/** What stores need of a loader's or a handler's context, or of a job. */
export interface Where {
  readonly dataDir: string
  now(): number
}

/** One for each data folder; its first use opens it. */
export function databaseIn({ dataDir }: { readonly dataDir: string }): Database {
  const database =
    opened.get(dataDir) ?? openDatabase({ path: join(dataDir, 'desk.sqlite'), migrations: [TABLES, TRIES] })
  opened.set(dataDir, database)
  return database
}
