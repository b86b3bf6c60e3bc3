import { join } from 'node:path'
import { openDatabase, type Database, type LoaderArgs } from 'millrace/server'

const MOST_SHOWN = 20
const TABLE = 'CREATE TABLE entries (id INTEGER PRIMARY KEY, name TEXT NOT NULL, at INTEGER NOT NULL) STRICT'

/** One for each data folder; it is opened by its first use. */
const databases = new Map<string, Database>()

export function guestbookIn(dataDir: string): Database {
  const path = join(dataDir, 'guestbook.sqlite')
  const database = databases.get(path) ?? openDatabase({ path, migrations: [TABLE] })
  databases.set(path, database)
  return database
}

export function loader({ context }: LoaderArgs<'/guestbook'>) {
  const rows = guestbookIn(context.dataDir)
    .statement('SELECT id, name FROM entries ORDER BY id DESC LIMIT ?')
    .all(MOST_SHOWN)
  return { entries: rows.map(({ id, name }) => ({ id: Number(id), name: String(name) })) }
}
