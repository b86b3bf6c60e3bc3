import { statfsSync, statSync } from 'node:fs'
import type { Database } from './open-database.ts'

/** What is left to sessions, limits and the application's own files when reports and results of calls are refused. */
export const LEAST_FREE_BYTES = 16_777_216
/** Of a small disk, that part. */
const LEAST_FREE_SHARE = 1 / 16
/** But the logs of sessions and limits must be able to get as long as they do before a checkpoint; of a tiny disk, a quarter. */
const [LOGS_BYTES, LOGS_SHARE] = [8_388_608, 1 / 4]
const CHECK_MS = 250
/** More than is written between two checks. */
const PLENTY_BYTES = 134_217_728
/** Into the log, and by a checkpoint into the file. */
const TIMES_WRITTEN = 2
/** What a write takes besides its bytes, and those that are committed with it: rows, indexes, accounts. */
const SLACK_BYTES = 1_048_576
const PAGE_BYTES = 4_096 // SQLite's default
/** https://www.sqlite.org/fileformat2.html#the_write_ahead_log */
const [LOG_HEADER_BYTES, FRAME_BYTES] = [32, 24 + PAGE_BYTES]
/** Before SQLite 3.51, this would begin a checkpoint. https://www.sqlite.org/pragma.html#pragma_wal_checkpoint */
const LOG_STATE = isAtLeast(process.versions['sqlite'], [3, 51]) ? 'PRAGMA wal_checkpoint(NOOP)' : undefined

/** Room on the disk of a folder. */
export interface DiskRoom {
  /**
   * Counts what is in the log of a file as well: a checkpoint takes this room again.
   * @param checkpoint begins one where room is refused: without writes, nothing else would.
   */
  counting<File extends LoggedFile>(file: File, checkpoint?: () => void): File
  /**
   * Whether there may be more entries. Looks at the disk four times a second.
   * @param leaves as in `RoomWays`.
   * @param file whose free pages are room, too. Default: none.
   */
  mayGrow(leaves: number, file?: LoggedFile): boolean
  /**
   * Runs work that writes something, unless so little would be left that only what visitors cannot do without is written.
   * @param file into which it writes: what this and its log can use again is room.
   * @param bytes about as many as it writes.
   * @returns `undefined` if it has not run.
   */
  write<Result>(
    file: LoggedFile,
    bytes: number,
    work: () => Result | Promise<Result>,
    ways?: RoomWays,
  ): Promise<Result> | undefined
}

/** How a write gets its room. */
interface RoomWays {
  /** The part of `LEAST_FREE_BYTES` that it leaves, 0 to 1. Default: all of them. */
  readonly leaves?: number
  /** Deletes about so many bytes of the file, if there are some that may go: the write uses their pages again. */
  readonly free?: (bytes: number) => void
}

type LoggedFile = Pick<Database, 'statement'>

/**
 * Looks at the disk four times a second at most while it has plenty of room.
 * @param folder absolute path.
 * @param diskOf what the platform says of a folder's disk; for tests.
 */
export function createDiskRoom(
  folder: string,
  diskOf: (folder: string) => DiskBytes | undefined = readDisk,
  now: () => number = () => performance.now(),
): DiskRoom {
  /** With the bytes that were last known to be in the log alone. */
  const files = new Map<LoggedFile, number>()
  const checkpoints: (() => void)[] = []
  let checkedAt = Number.NEGATIVE_INFINITY
  let left = 0
  let reserve = 0
  let mayReuse = false
  let inProgress = 0
  let again: NodeJS.Immediate | undefined

  /** A transaction is short, and does not wait. */
  function lookAgain(): void {
    again ??= setImmediate(() => {
      again = undefined
      look()
    }).unref()
  }

  function look(): void {
    checkedAt = now()
    left = Infinity
    const disk = diskOf(folder)
    if (disk === undefined) return
    let owed = 0
    for (const [file, last] of files) {
      const bytes = unwrittenBytes(file)
      // In a transaction of its own, a file does not say it.
      if (bytes === undefined) lookAgain()
      else files.set(file, bytes)
      owed += bytes ?? last
    }
    const logs = Math.min(LOGS_BYTES, disk.all * LOGS_SHARE)
    reserve = Math.min(LEAST_FREE_BYTES, Math.max(logs, disk.all * LEAST_FREE_SHARE))
    // Deletions make a log longer and ask for no room: without this, they could take all of the reserve by and by.
    mayReuse = disk.free >= reserve / 2
    left = disk.free - owed
  }

  /** Of a small disk, sessions need all of it. */
  function spareOf(leaves: number): number {
    return left - Math.min(reserve, leaves * LEAST_FREE_BYTES)
  }

  async function run<Result>(bytes: number, work: () => Result | Promise<Result>): Promise<Result> {
    inProgress += bytes
    try {
      return await work()
    } finally {
      inProgress -= bytes
    }
  }

  return {
    counting(file, checkpoint) {
      files.set(file, 0)
      if (checkpoint !== undefined) checkpoints.push(checkpoint)
      return file
    },
    mayGrow(leaves, file) {
      if (now() - checkedAt >= CHECK_MS) look()
      const spare = spareOf(leaves)
      return spare >= SLACK_BYTES || (file !== undefined && spare + reusableBytes(file)[0] >= SLACK_BYTES)
    },
    write(file, bytes, work, { leaves = 1, free } = {}) {
      if (left < reserve + PLENTY_BYTES || now() - checkedAt >= CHECK_MS) look()
      const all = inProgress + bytes
      const spare = spareOf(leaves)
      if (spare >= TIMES_WRITTEN * all) return run(bytes, work)
      if (mayReuse && mayWrite(file, all, Math.max(0, spare), free)) return run(bytes, work)
      for (const checkpoint of checkpoints) checkpoint()
      return undefined
    },
  }
}

/** @returns whether a write makes a file and its log longer by no more than `most` bytes. @param free as `RoomWays`. */
function mayWrite(file: LoggedFile, bytes: number, most: number, free?: RoomWays['free']): boolean {
  const [ofFile, ofLog] = growthOf(file, bytes)
  if (ofFile + ofLog <= most) return true
  // Where the log has no room, deletions would be in vain: a checkpoint comes first.
  if (ofLog > most || free === undefined) return false
  free(ofFile + SLACK_BYTES)
  return mayWrite(file, bytes, most)
}

/** By how many bytes a write makes a file longer, and its log. */
function growthOf(file: LoggedFile, bytes: number): readonly [file: number, log: number] {
  const [ofFile, ofLog] = reusableBytes(file)
  const growth = (reusable: number): number => Math.max(0, bytes + SLACK_BYTES - reusable)
  return [growth(ofFile), growth(ofLog)]
}

/** Of a file, its free pages; of its log, what follows the pages in use. */
function reusableBytes(file: LoggedFile): readonly [file: number, log: number] {
  try {
    const { path, logged, written } = readLogState(file)
    const { freelist_count: free } = file.statement('PRAGMA freelist_count').get() as {
      readonly freelist_count: number
    }
    // Once all of a log is in the file, the next write begins it again.
    const used = logged === written ? 0 : LOG_HEADER_BYTES + logged * FRAME_BYTES
    return [free * PAGE_BYTES, Math.max(0, statSync(`${path}-wal`).size - used)]
  } catch {
    return [0, 0]
  }
}

/** Of the log, what no checkpoint has written into the file; `undefined` if it is not known now. */
function unwrittenBytes(file: LoggedFile): number | undefined {
  try {
    const { logged, written } = readLogState(file)
    return (logged - written) * PAGE_BYTES
  } catch {
    // Whoever writes to it learns why.
    return undefined
  }
}

/**
 * Asks SQLite. The index of the log must not be read by a descriptor of our own: when a process closes one, it loses all its locks on
 * that file, and other processes then write to the log at the same time (https://www.sqlite.org/howtocorrupt.html, section 2.2).
 * @returns the file's path, how many pages are in its log, and how many of those in the file.
 */
function readLogState(file: LoggedFile) {
  const { file: path } = file.statement('PRAGMA database_list').get() as { readonly file: string }
  if (LOG_STATE === undefined) return { path, logged: pagesOf(`${path}-wal`), written: 0 }
  const { log, checkpointed } = file.statement(LOG_STATE).get() as {
    readonly log: number
    readonly checkpointed: number
  }
  return { path, logged: Math.max(0, log), written: Math.max(0, checkpointed) }
}

/** At most as many as there are in a log. */
function pagesOf(log: string): number {
  const { size } = statSync(log)
  return Math.max(0, Math.floor((size - LOG_HEADER_BYTES) / FRAME_BYTES))
}

function isAtLeast(version: string | undefined, [major, minor]: readonly [number, number]): boolean {
  const [ofMajor = 0, ofMinor = 0] = (version ?? '').split('.').map(Number)
  return ofMajor > major || (ofMajor === major && ofMinor >= minor)
}

/** A disk, in bytes. */
interface DiskBytes {
  /** To this process. */
  readonly free: number
  readonly all: number
}

/** @returns `undefined` if the platform does not say. */
function readDisk(folder: string): DiskBytes | undefined {
  try {
    const { bavail, blocks, bsize } = statfsSync(folder)
    // File systems in memory without a limit, and some of a network.
    return blocks === 0 ? undefined : { free: bavail * bsize, all: blocks * bsize }
  } catch {
    return undefined
  }
}
