/** What both servers do with a form: the same schema, the same write. */
import { join } from 'node:path'
import { z } from 'zod'
import { openDatabase } from '../../../src/server/stores/open-database.ts'

/** A small form. */
export const entrySchema = z.object({ name: z.string().min(1).max(40), message: z.string().min(1).max(280) })

/** A table of its own, one row a form. */
export function openEntries(dataDir: string) {
  const database = openDatabase({
    path: join(dataDir, 'entries.sqlite'),
    migrations: ['CREATE TABLE entries (id INTEGER PRIMARY KEY, name TEXT NOT NULL, message TEXT NOT NULL) STRICT'],
  })
  return {
    add({ name, message }: z.output<typeof entrySchema>): void {
      database.statement('INSERT INTO entries (name, message) VALUES (?, ?)').run(name, message)
    },
  }
}
