import { DatabaseError } from './database-error.ts'

/** Source: SQLite, "Result and Error Codes". The lowest byte of an extended code is the primary one. */
const SQLITE_BUSY = 5

/**
 * Whether a file was locked for longer than its users wait, for instance because another process migrates it: for now, and
 * nothing was changed.
 */
export function isLocked(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false
  const { errcode } = thrown as { readonly errcode?: unknown }
  return (Number(errcode) & 0xff) === SQLITE_BUSY || (thrown instanceof DatabaseError && isLocked(thrown.cause))
}

/** The ways out by the system's code or SQLite's. None of them risks the file. */
const WAYS_OUT: Readonly<Record<string, string>> = {
  EISDIR: 'is a folder: name a file in it',
  ENOTDIR: 'is inside of a file and not a folder: correct the path, or remove what has the name of its folder',
  EEXIST: 'is inside of a file and not a folder: correct the path, or remove what has the name of its folder',
  ENOENT: 'is in a folder that cannot be made: correct the path',
  EACCES: 'may not be read and written by this user: give the file and its folder to the user of the server',
  EPERM: 'may not be read and written by this user: give the file and its folder to the user of the server',
  EROFS: 'is on a read-only file system: mount it writable, or choose another folder',
  ENOSPC: 'has no room: the disk is full. Make room and start again',
  EDQUOT: 'has no room: the quota of the disk is used up. Make room and start again',
  EMFILE: 'cannot be opened: too many files are open. Raise the limit (ulimit -n)',
  ENFILE: 'cannot be opened: too many files are open on this machine',
  3: 'may not be read and written by this user: give the file and its folder to the user of the server',
  5: 'is locked by another process, which may be migrating it, copying it or holding a transaction open. Wait for it, or end it, and try again',
  6: 'is locked by another process, which may be migrating it, copying it or holding a transaction open. Wait for it, or end it, and try again',
  8: 'cannot be written: make the file, its log (-wal, -shm) and its folder writable for the user of the server',
  10: 'cannot be read or written by the system: check the disk. A network file system does not suit SQLite',
  11: 'is damaged. Keep the file with its log (-wal); restore a backup, or save what can be read by "sqlite3 FILE .recover"',
  13: 'has no room: the disk is full. Make room and start again',
  14: 'cannot be opened: check that its folder exists and can be written by the user of the server',
  26: 'is not an SQLite database, and is left alone: correct the path, or restore a backup of the database',
}

/**
 * Says why a database file cannot be opened, and the way out.
 * @param thrown by SQLite or the file system.
 */
export function openingFault(thrown: unknown): string {
  const { code, errcode } = (thrown ?? {}) as { readonly code?: unknown; readonly errcode?: unknown }
  const key = errcode === undefined ? String(code) : String(Number(errcode) & 0xff)
  const fault = Object.hasOwn(WAYS_OUT, key) ? WAYS_OUT[key] : undefined
  const reason = thrown instanceof Error ? thrown.message : String(thrown)
  return `${fault ?? 'cannot be opened as a database'} (${reason})`
}
