/**
 * SQLite files in `DATA_DIR`, for stores of one machine. Each process opens a file once and shares the handle. Calls are
 * synchronous, so every statement must be short.
 *
 * - `journal_mode = WAL`: readers and the writer do not wait for each other, in this process and in those that share the
 *   folder (`WORKERS`).
 * - `synchronous = NORMAL`: a commit is a write without an fsync, which would hold the event loop for milliseconds. What
 *   is committed outlives the process, `kill -9` included. A power cut may take the last commits, never the file.
 * - `busy_timeout`: how long a write waits for another process's. If it was in vain, the next ones hardly wait until one succeeds.
 */
import { accessSync, chmodSync, closeSync, constants, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { DatabaseError } from './database-error.ts'
import { makeFolder } from './make-folder.ts'
import { migrate, transaction } from './migrations.ts'
import { isLocked, openingFault } from './opening-fault.ts'

const BUSY_TIMEOUT_MS = 2_000 // blocks the event loop; writes of other processes take less than a millisecond
/** For files of the runtime, which try again in a later turn (`grouped-writes.ts`). */
const SHORT_TIMEOUT_MS = 50
/** While a lock lasts that a write has waited for in vain: the next writes must not wait again. */
const LOCKED_TIMEOUT_MS = 1
const CHECKPOINT_PAGES = 1_000 // SQLite's default
const RETRY_MS = 5 // while a new file is locked
const FILE_MODE = 0o600 // contains sessions, calls and reports of visitors
const FOREIGN_BITS = 0o077

/** Options of a database file. */
export interface DatabaseOptions {
  /** Absolute. A missing folder is created. */
  readonly path: string
  /**
   * SQL from each version of the schema to the next, all in one transaction. Only append to it: an entry that is changed
   * after a file has run it is refused, except for comments and spaces.
   */
  readonly migrations: readonly string[]
  /**
   * Pages of 4 KiB in the log that trigger a checkpoint, which waits for the disk. Default: 1,000; choose more for data
   * that is soon deleted.
   */
  readonly checkpointPages?: number
}

/** State that is read once per transaction and written once, no matter how often it changes in between. */
export interface TransactionPart<State> {
  /** Reads it. */
  begin(): State
  /** Writes it before the commit. A rolled back transaction discards it. */
  finish(state: State): void
}

/** An SQLite file, opened on first use. */
export interface Database {
  /**
   * The prepared statement for this SQL, cached. Pass constant text only: every text stays in memory.
   * @throws {DatabaseError} if the file cannot be opened.
   */
  statement(sql: string): StatementSync
  /**
   * Runs work as one transaction that takes the write lock first; an error rolls it back. A nested call joins the outer
   * transaction: let its errors pass through, because they must roll back everything.
   * @throws errors of `work`, and {DatabaseError} if the file cannot be opened.
   */
  write<Result>(work: () => Result): Result
  /**
   * The state of a part during the running transaction; the first call in each transaction reads it.
   * @throws {Error} outside a transaction, and errors of `begin`.
   */
  during<State>(part: TransactionPart<State>): State
  /** Closes the file; a second call does nothing. Later uses throw. */
  dispose(): void
}

/**
 * Describes a database. The first use opens the file; after a failure the next use tries again.
 * @example
 * ```ts
 * import { join } from 'node:path'
 * import { openDatabase } from 'millrace/server'
 *
 * const database = openDatabase({
 *   path: join(context.dataDir, 'mills.sqlite'),
 *   migrations: ['CREATE TABLE mills (id TEXT PRIMARY KEY, name TEXT NOT NULL) STRICT'],
 * })
 * const names = database.statement('SELECT name FROM mills').all()
 * ```
 */
export function openDatabase(options: DatabaseOptions): Database {
  return openWaiting(options, BUSY_TIMEOUT_MS)
}

/** A file of the runtime: as `openDatabase`, with short waits for the writes of other processes. */
export function openOwnDatabase(options: DatabaseOptions): Database {
  return openWaiting(options, SHORT_TIMEOUT_MS)
}

function openWaiting(
  { path, migrations, checkpointPages = CHECKPOINT_PAGES }: DatabaseOptions,
  timeoutMs: number,
): Database {
  const statements = new Map<string, StatementSync>()
  let handle: DatabaseSync | undefined
  let disposed = false
  /** Parts of the running transaction. */
  let parts: Map<TransactionPart<unknown>, unknown> | undefined

  let isShort = false

  function open(): DatabaseSync {
    if (disposed) throw new DatabaseError(path, 'is closed: the server is ending')
    if (handle !== undefined) return handle
    handle = openFile(path, migrations, checkpointPages)
    if (timeoutMs !== BUSY_TIMEOUT_MS) wait(timeoutMs)
    return handle
  }

  function wait(milliseconds: number): void {
    handle?.exec(`PRAGMA busy_timeout = ${milliseconds}`)
  }

  function noteLock(isLocked: boolean): void {
    if (isLocked === isShort) return
    isShort = isLocked
    wait(isLocked ? LOCKED_TIMEOUT_MS : timeoutMs)
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
        const done = transaction(open(), () => {
          const result = work()
          for (const [part, state] of states) part.finish(state)
          return result
        })
        noteLock(false)
        return done
      } catch (thrown) {
        if (isLocked(thrown)) noteLock(true)
        throw thrown
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
    migrate(handle, { path, migrations })
    return handle
  } catch (thrown) {
    handle?.close()
    if (thrown instanceof DatabaseError) throw thrown
    throw new DatabaseError(path, openingFault(thrown), thrown)
  }
}

/**
 * Creates the file as private, because SQLite would make it readable for all, and restricts the permissions of a file
 * that was copied here. SQLite copies them to its log and index, but only when it creates those.
 */
function keepToOwner(path: string): void {
  createFile(path)
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0
    if ((mode & FOREIGN_BITS) === 0) continue
    try {
      chmodSync(file, FILE_MODE)
    } catch (thrown) {
      // The file belongs to another user, or has been deleted.
      if (!['EPERM', 'ENOENT', 'EROFS'].includes((thrown as NodeJS.ErrnoException).code ?? '')) throw thrown
    }
  }
}

/**
 * Opens no file that is there: if this process uses it already, closing the descriptor would take the locks from that connection
 * (https://www.sqlite.org/howtocorrupt.html, section 2.2).
 */
function createFile(path: string): void {
  try {
    closeSync(openSync(path, 'ax', FILE_MODE))
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown
    accessSync(path, constants.R_OK | constants.W_OK)
    if (statSync(path).isDirectory()) throw Object.assign(new Error(`EISDIR: ${path}`), { code: 'EISDIR' })
  }
}

/**
 * Several processes may open a new file at once. A process that finds it locked during the change of mode gets an error
 * immediately: SQLite does not wait in this case.
 */
function switchToLog(handle: DatabaseSync): void {
  const until = performance.now() + BUSY_TIMEOUT_MS
  for (;;) {
    try {
      return handle.exec('PRAGMA journal_mode = WAL')
    } catch (thrown) {
      if (!isLocked(thrown) || performance.now() > until) throw thrown
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS)
    }
  }
}
