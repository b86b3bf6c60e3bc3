/**
 * SQLite files in `DATA_DIR`, for stores that live in one machine. One handle a file and process: whoever opens it hands
 * it around. Calls are synchronous, so every statement has to be short.
 *
 * - `journal_mode = WAL`: readers and the writer do not wait for each other, in this process and in those that share the
 *   folder (`WORKERS`).
 * - `synchronous = NORMAL`: a commit is a write without an fsync, which would hold the event loop for milliseconds. What
 *   is committed outlives the process, `kill -9` included. A power cut may take the last commits, never the file.
 * - `busy_timeout`: how long a write waits for another process's.
 */
import { chmodSync, closeSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { DatabaseError } from './database-error.ts'
import { makeFolder } from './make-folder.ts'

const BUSY_TIMEOUT_MS = 2_000 // the event loop stands still meanwhile; writes of others take less than a millisecond
const CHECKPOINT_PAGES = 1_000 // SQLite's own
const RETRY_MS = 5 // as long as a new file is locked
const SQLITE_BUSY = 5
const FILE_MODE = 0o600 // sessions, calls and reports of visitors: nobody else's business on this machine
const FOREIGN_BITS = 0o077

/** Which file, and what is in it. */
export interface DatabaseOptions {
  /** Absolute. Its folder is made when there is none. */
  readonly path: string
  /** SQL that leads from each version of the tables to the next; never changed once released, only added to. */
  readonly migrations: readonly string[]
  /**
   * Pages of 4 KiB that are written before they are brought from the log into the file, which waits for the disk. 1,000
   * unless told; more where much is written that is soon deleted again.
   */
  readonly checkpointPages?: number
}

/** What is read once a transaction and written once, however often it changes in between. */
export interface TransactionPart<State> {
  /** Reads it. */
  begin(): State
  /** Writes it, before the commit. A transaction that is undone forgets it. */
  finish(state: State): void
}

/** An SQLite file, opened by its first use. */
export interface Database {
  /**
   * The statement for this SQL, prepared once. Hand over constant text only: every text stays in memory.
   * @throws {DatabaseError} where the file cannot be opened.
   */
  statement(sql: string): StatementSync
  /**
   * Runs work as one transaction, which begins by taking the lock for writing; undone when it throws. Inside of another
   * one it is a part of that: what it throws has to pass there too, and undoes the whole.
   * @throws what `work` throws, and {DatabaseError} where the file cannot be opened.
   */
  write<Result>(work: () => Result): Result
  /**
   * What a part keeps in memory as long as the running transaction lasts; made by the first call in each.
   * @throws {Error} outside of a transaction, and what `begin` throws.
   */
  during<State>(part: TransactionPart<State>): State
  /** Closes the file; a second call does nothing. Later uses throw. */
  dispose(): void
}

/** Names a database. Touches the disk on first use only, and tries again if that fails. */
export function openDatabase({ path, migrations, checkpointPages = CHECKPOINT_PAGES }: DatabaseOptions): Database {
  const statements = new Map<string, StatementSync>()
  let handle: DatabaseSync | undefined
  let disposed = false
  /** Of the running transaction. */
  let parts: Map<TransactionPart<unknown>, unknown> | undefined

  function open(): DatabaseSync {
    if (disposed) throw new DatabaseError(path, 'is closed: the server is ending')
    return (handle ??= openFile(path, migrations, checkpointPages))
  }

  return {
    statement(sql) {
      let statement = statements.get(sql)
      if (statement === undefined) {
        statement = open().prepare(sql)
        statements.set(sql, statement)
      }
      return statement
    },
    write(work) {
      if (parts !== undefined) return work()
      const states = (parts = new Map<TransactionPart<unknown>, unknown>())
      try {
        return transaction(open(), () => {
          const result = work()
          for (const [part, state] of states) part.finish(state)
          return result
        })
      } finally {
        parts = undefined
      }
    },
    during<State>(part: TransactionPart<State>) {
      if (parts === undefined) throw new Error('There is no transaction')
      if (!parts.has(part)) parts.set(part, part.begin())
      return parts.get(part) as State
    },
    dispose() {
      disposed = true
      statements.clear()
      handle?.close()
      handle = undefined
    },
  }
}

function openFile(path: string, migrations: readonly string[], checkpointPages: number): DatabaseSync {
  let handle: DatabaseSync | undefined
  try {
    makeFolder(dirname(path))
    keepToOwner(path)
    handle = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS })
    switchToLog(handle)
    handle.exec(`PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = ${checkpointPages}`)
    migrate(handle, path, migrations)
    return handle
  } catch (thrown) {
    handle?.close()
    if (thrown instanceof DatabaseError) throw thrown
    const reason = thrown instanceof Error ? thrown.message : String(thrown)
    throw new DatabaseError(
      path,
      `cannot be opened as a database (${reason}); check DATA_DIR and its permissions, or move the file away to begin anew`,
      thrown,
    )
  }
}

/**
 * Makes the file, which SQLite would make readable for all, and takes the rights of others away from one that a former
 * version has made. SQLite gives its log and its index of that the rights of the file, but only when it makes them.
 */
function keepToOwner(path: string): void {
  closeSync(openSync(path, 'a', FILE_MODE))
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0
    if ((mode & FOREIGN_BITS) === 0) continue
    try {
      chmodSync(file, FILE_MODE)
    } catch (thrown) {
      // Of another user, who has let us in: the rights are theirs to give. Or gone since.
      if (!['EPERM', 'ENOENT', 'EROFS'].includes((thrown as NodeJS.ErrnoException).code ?? '')) throw thrown
    }
  }
}

/**
 * Several processes may open a new file at once. Whoever finds it locked for the change of its mode is told at once, as the
 * only ones for whom SQLite does not wait.
 */
function switchToLog(handle: DatabaseSync): void {
  const until = performance.now() + BUSY_TIMEOUT_MS
  for (;;) {
    try {
      return handle.exec('PRAGMA journal_mode = WAL')
    } catch (thrown) {
      if (!isBusy(thrown) || performance.now() > until) throw thrown
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS)
    }
  }
}

/** Source: SQLite, "Result and Error Codes": the lowest byte of an extended code is the primary one. */
function isBusy(thrown: unknown): boolean {
  return thrown instanceof Error && 'errcode' in thrown && (Number(thrown.errcode) & 0xff) === SQLITE_BUSY
}

/** `user_version` says how many migrations the file has seen. */
function migrate(handle: DatabaseSync, path: string, migrations: readonly string[]): void {
  if (versionOf(handle) === migrations.length) return
  transaction(handle, () => {
    // Another process may have been here while this one waited for the lock.
    const version = versionOf(handle)
    if (version > migrations.length) {
      throw new DatabaseError(
        path,
        `was written by a newer version of the application (tables of version ${version}, known are ${migrations.length}); start that version, or move the file away to begin anew`,
      )
    }
    for (const migration of migrations.slice(version)) handle.exec(migration)
    handle.exec(`PRAGMA user_version = ${migrations.length}`)
  })
}

function versionOf(handle: DatabaseSync): number {
  return Number(handle.prepare('PRAGMA user_version').get()?.['user_version'])
}

function transaction<Result>(handle: DatabaseSync, work: () => Result): Result {
  handle.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    handle.exec('COMMIT')
    return result
  } catch (thrown) {
    // A full disk ends the transaction by itself.
    if (handle.isTransaction) handle.exec('ROLLBACK')
    throw thrown
  }
}
