import { join } from 'node:path'
import { openDatabase, type Database } from 'millrace/server'

const USER = 'INTEGER NOT NULL REFERENCES users ON DELETE CASCADE'
const ARTICLE = 'INTEGER NOT NULL REFERENCES articles ON DELETE CASCADE'
const TABLES = `
  CREATE TABLE users (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE COLLATE NOCASE, password TEXT NOT NULL, avatar TEXT
  ) STRICT;
  CREATE TABLE articles (
    id INTEGER PRIMARY KEY, slug TEXT NOT NULL UNIQUE, author ${USER}, title TEXT NOT NULL, about TEXT NOT NULL,
    body TEXT NOT NULL, at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX articles_by_author ON articles (author);
  CREATE TABLE tags (article ${ARTICLE}, tag TEXT NOT NULL, PRIMARY KEY (tag, article)) STRICT, WITHOUT ROWID;
  CREATE INDEX tags_by_article ON tags (article);
  CREATE TABLE favourites (article ${ARTICLE}, user ${USER}, PRIMARY KEY (article, user)) STRICT, WITHOUT ROWID;
  CREATE TABLE follows (follower ${USER}, author ${USER}, PRIMARY KEY (follower, author)) STRICT, WITHOUT ROWID;
  CREATE TABLE comments (
    id INTEGER PRIMARY KEY, article ${ARTICLE}, author ${USER}, body TEXT NOT NULL, at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX comments_by_article ON comments (article);
`

/** One for each data folder, opened by its first use: tests have a folder each. */
const databases = new Map<string, Database>()

export function databaseIn(dataDir: string): Database {
  const path = join(dataDir, 'conduit.sqlite')
  const database = databases.get(path) ?? openDatabase({ path, migrations: [TABLES] })
  databases.set(path, database)
  return database
}
