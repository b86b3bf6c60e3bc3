import { createHash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { DatabaseError } from './database-error.ts'

/** Hashes of the migrations that a file has, to find one that was changed afterwards. */
const TABLE = 'CREATE TABLE IF NOT EXISTS millrace_migrations (number INTEGER PRIMARY KEY, hash TEXT NOT NULL) STRICT'

const SHOWN_CHARACTERS = 200 // of a statement: enough to find it, short enough for one line

/** What may precede a statement. */
const BLANK = /^(?:[\s;]|--[^\n]*|\/\*[^]*?(?:\*\/|$))*/
/** Strings and names, whose spaces count, then comments and spaces. */
const SPACED = /('(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\])|(?:\s|--[^\n]*|\/\*[^]*?(?:\*\/|$))+/g
/** Shown for a statement that does not compile. */
const UNTIL_SEMICOLON = /^(?:'(?:[^']|'')*'|[^;])*/
/** Would keep half of a migration that fails. */
const ENDS_TRANSACTION = /^(?:BEGIN|COMMIT|END|ROLLBACK)\b/i

interface Place {
  readonly path: string
  readonly migrations: readonly string[]
}

/**
 * Brings a file to the last version of its tables, in one transaction. `user_version` counts the migrations that it has.
 * @throws {DatabaseError} for a statement that fails or ends the transaction, for a migration that was changed after it
 * ran, and for a file of a newer version. The file is then as it was.
 */
export function migrate(handle: DatabaseSync, place: Place): void {
  const hashes = place.migrations.map(hashOf)
  if (isCurrent(handle, place, hashes)) return
  transaction(handle, () => {
    // Another process may have migrated it while this one waited for the lock.
    if (isCurrent(handle, place, hashes)) return
    for (let index = versionOf(handle); index < hashes.length; index += 1) run(handle, place, index)
    handle.exec(`${TABLE}; PRAGMA user_version = ${hashes.length}`)
    const add = handle.prepare('INSERT OR IGNORE INTO millrace_migrations VALUES (?, ?)')
    for (const [index, hash] of hashes.entries()) add.run(index + 1, hash)
  })
}

function isCurrent(handle: DatabaseSync, { path, migrations }: Place, hashes: readonly string[]): boolean {
  const version = versionOf(handle)
  if (version > migrations.length) {
    throw new DatabaseError(
      path,
      `was written by a newer version of the application: it has ${version} migrations, this version knows ${migrations.length}. Start the newer version; this one leaves the file as it is`,
    )
  }
  const isRecorded =
    handle.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'millrace_migrations'").get() !== undefined
  const rows = isRecorded
    ? handle.prepare('SELECT number, hash FROM millrace_migrations WHERE number <= ?').all(version)
    : []
  const changed = rows
    .map((row) => Number(row['number']))
    .find((number, at) => hashes[number - 1] !== rows[at]?.['hash'])
  if (changed !== undefined) {
    throw new DatabaseError(
      path,
      `migration ${changed} of ${migrations.length} was changed after this file had run it, and runs only once: ${shown(migrations[changed - 1] ?? '')}. Undo the change, and append a migration that makes the difference, such as ALTER TABLE`,
    )
  }
  return version === migrations.length && rows.length === version
}

/** One statement after another, to name the one that fails. */
function run(handle: DatabaseSync, { path, migrations }: Place, index: number): void {
  const culprit = `migration ${index + 1} of ${migrations.length}`
  let rest = (migrations[index] ?? '').replace(BLANK, '')
  while (rest !== '') {
    let statement = UNTIL_SEMICOLON.exec(rest)?.[0] ?? ''
    if (ENDS_TRANSACTION.test(rest)) {
      throw new DatabaseError(
        path,
        `${culprit} has the statement ${shown(statement)}. All migrations run in one transaction: remove the statement. The file is as it was`,
      )
    }
    try {
      // SQLite compiles the first statement and keeps its text.
      statement = handle.prepare(rest).sourceSQL
      handle.exec(statement)
    } catch (thrown) {
      if (!isFaultOfStatement(thrown)) throw thrown
      throw new DatabaseError(
        path,
        `${culprit} failed: ${thrown.message}, in ${shown(statement)}. Correct the statement; the file is as it was before`,
        thrown,
      )
    }
    rest = rest.slice(statement.length).replace(BLANK, '')
  }
}

/**
 * SQL that is wrong, or that the rows contradict; a full disk or a lock is not a fault of a statement. Source: SQLite,
 * "Result and Error Codes": ERROR, TOOBIG, CONSTRAINT, MISMATCH.
 */
const STATEMENT_CODES = new Set([1, 18, 19, 20])

function isFaultOfStatement(thrown: unknown): thrown is Error {
  return thrown instanceof Error && 'errcode' in thrown && STATEMENT_CODES.has(Number(thrown.errcode) & 0xff)
}

function shown(sql: string): string {
  const line = sql.replace(/\s+/g, ' ').trim()
  return line.length > SHOWN_CHARACTERS ? `${line.slice(0, SHOWN_CHARACTERS)}…` : line
}

/** Comments, and spaces outside of strings, may be changed. */
function hashOf(migration: string): string {
  const text = migration.replace(SPACED, (_, quoted?: string) => quoted ?? ' ').trim()
  return createHash('sha256').update(text).digest('base64url')
}

function versionOf(handle: DatabaseSync): number {
  return Number(handle.prepare('PRAGMA user_version').get()?.['user_version'])
}

/** Runs work as one transaction that takes the write lock first; an error rolls it back. */
export function transaction<Result>(handle: DatabaseSync, work: () => Result): Result {
  handle.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    handle.exec('COMMIT')
    return result
  } catch (thrown) {
    // A full disk ends the transaction on its own.
    if (handle.isTransaction) handle.exec('ROLLBACK')
    throw thrown
  }
}
