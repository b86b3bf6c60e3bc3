import { statfsSync } from 'node:fs'

/** What is left to sessions, limits and the application's own files when reports are refused. */
export const LEAST_FREE_BYTES = 16_777_216
/** Of a small disk, that part. */
const LEAST_FREE_SHARE = 1 / 16
const CHECK_MS = 250

/** Room on the disk of a folder. */
export interface DiskRoom {
  /** Whether so little is left that only what visitors cannot do without is written. */
  readonly isScarce: boolean
}

/**
 * Looks at the disk four times a second at most while it has room.
 * @param folder absolute path.
 * @param diskOf what the platform says of a folder's disk; for tests.
 */
export function createDiskRoom(
  folder: string,
  diskOf: (folder: string) => DiskBytes | undefined = readDisk,
  now: () => number = () => performance.now(),
): DiskRoom {
  let checkedAt = Number.NEGATIVE_INFINITY
  let isScarce = false
  return {
    get isScarce() {
      const at = now()
      if (!isScarce && at - checkedAt < CHECK_MS) return false
      checkedAt = at
      const disk = diskOf(folder)
      isScarce = disk !== undefined && disk.free < Math.min(LEAST_FREE_BYTES, disk.all * LEAST_FREE_SHARE)
      return isScarce
    },
  }
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
    return { free: bavail * bsize, all: blocks * bsize }
  } catch {
    return undefined
  }
}
