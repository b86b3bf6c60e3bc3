/** The guestbook's table, one for each data folder, and the listeners to its changes. */
import { join } from 'node:path'
import { openDatabase, type Database } from 'millrace/server'
import { REMOVABLE_MS } from './entry.ts'

/** Entries of one page of the guestbook. */
export const PAGE_SIZE = 20

const MOST_ENTRIES = 5_000 // anybody may write; the oldest go first
const POLL_MS = 1_000 // how late another process's change may be noticed

/** An entry as it is stored. */
export interface StoredEntry {
  readonly id: number
  readonly name: string
  readonly message: string
  /** In ms since the epoch. */
  readonly at: number
  /** The author: a random id from their cookie. */
  readonly visitor: string
}

/** Entries of one page, newest first. */
export interface GuestbookPage {
  readonly entries: readonly StoredEntry[]
  /** The number of this page: the last one if the requested number is too high. */
  readonly page: number
  /** At least 1. */
  readonly pages: number
  /** Entries of all pages. */
  readonly total: number
  /** Counts changes. */
  readonly revision: number
}

/** What a visitor writes. */
export type NewEntry = Pick<StoredEntry, 'name' | 'message' | 'visitor'>

/** The guestbook. Every call is one short transaction. */
export interface Guestbook {
  /** @param page from 1. */
  read(page: number): GuestbookPage
  /** @param now in ms since the epoch. */
  sign(entry: NewEntry, now: number): void
  /**
   * Deletes a visitor's own entry within its first minute.
   * @returns whether it was deleted.
   */
  remove(id: number, visitor: string, now: number): boolean
  /** Counts changes, those by other processes included. */
  revision(): number
  /**
   * Calls back after changes, by other processes within a second.
   * @param listener gets whether another process has made the change.
   * @returns what ends that.
   */
  onChange(listener: (isForeign: boolean) => void): () => void
  /** Closes the file. */
  dispose(): void
}

const TABLES = `
CREATE TABLE entries (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  message TEXT NOT NULL,
  at INTEGER NOT NULL,
  visitor TEXT NOT NULL
) STRICT;
CREATE TABLE changes (revision INTEGER NOT NULL) STRICT;
INSERT INTO changes VALUES (0);
`

/** Opens the guestbook of a data folder; the disk is touched by its first use. */
export function openGuestbook(dataDir: string): Guestbook {
  const database = openDatabase({ path: join(dataDir, 'guestbook.sqlite'), migrations: [TABLES] })
  const revision = (): number => Number(database.statement('SELECT revision FROM changes').get()?.['revision'])
  const changes = watchChanges(revision)

  function change(write: () => boolean): boolean {
    const changed = database.write(() => {
      const done = write()
      if (done) database.statement('UPDATE changes SET revision = revision + 1').run()
      return done
    })
    if (changed) changes.tell(false)
    return changed
  }

  return {
    read: (page) => readPage(database, page, revision),
    sign({ name, message, visitor }, now) {
      change(() => {
        database
          .statement('INSERT INTO entries (name, message, at, visitor) VALUES (?, ?, ?, ?)')
          .run(name, message, now, visitor)
        database.statement('DELETE FROM entries WHERE id <= (SELECT max(id) FROM entries) - ?').run(MOST_ENTRIES)
        return true
      })
    },
    remove: (id, visitor, now) =>
      change(() => {
        const removed = database
          .statement('DELETE FROM entries WHERE id = ? AND visitor = ? AND at > ?')
          .run(id, visitor, now - REMOVABLE_MS)
        return removed.changes > 0
      }),
    revision,
    onChange: changes.listen,
    dispose() {
      changes.end()
      database.dispose()
    },
  }
}

function readPage(database: Database, asked: number, revision: () => number): GuestbookPage {
  const total = Number(database.statement('SELECT count(*) AS total FROM entries').get()?.['total'])
  const pages = Math.max(1, Math.ceil(total / PAGE_SIZE))
  const page = Math.min(asked, pages)
  const entries = database
    .statement('SELECT id, name, message, at, visitor FROM entries ORDER BY id DESC LIMIT ? OFFSET ?')
    .all(PAGE_SIZE, (page - 1) * PAGE_SIZE) as unknown as readonly StoredEntry[]
  return { entries, page, pages, total, revision: revision() }
}

/** Tells listeners; looks for changes by other processes as long as there are any. */
function watchChanges(revision: () => number) {
  const listeners = new Set<(isForeign: boolean) => void>()
  let timer: NodeJS.Timeout | undefined
  let seen = 0

  function tell(isForeign: boolean): void {
    seen = revision()
    for (const listener of listeners) listener(isForeign)
  }

  function end(): void {
    clearInterval(timer)
    timer = undefined
    listeners.clear()
  }

  return {
    tell,
    end,
    listen(listener: (isForeign: boolean) => void): () => void {
      listeners.add(listener)
      if (timer === undefined) {
        seen = revision()
        timer = setInterval(() => {
          try {
            if (revision() !== seen) tell(true)
          } catch {
            // Whoever reads the page meets the same fault, and there it is logged.
          }
        }, POLL_MS).unref()
      }
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) end()
      }
    },
  }
}

const guestbooks = new Map<string, Guestbook>()

/** The guestbook of a request's server: one handle on its file for the whole process. */
export function guestbookOf({ dataDir }: { readonly dataDir: string }): Guestbook {
  let guestbook = guestbooks.get(dataDir)
  if (guestbook === undefined) {
    guestbook = openGuestbook(dataDir)
    guestbooks.set(dataDir, guestbook)
  }
  return guestbook
}
