import { statfsSync } from 'node:fs'

/** What is left to sessions, limits and the application's own files when reports are refused. */
export const LEAST_FREE_BYTES = 16_777_216
const CHECK_MS = 250

/** Room on the disk of a folder. */
export interface DiskRoom {
  /** Whether so little is left that only what visitors cannot do without is written. */
  readonly isScarce: boolean
}

/**
 * Looks at the disk four times a second at most.
 * @param folder absolute path.
 * @param freeBytes of the disk, to this process; for tests.
 */
export function createDiskRoom(
  folder: string,
  freeBytes: (folder: string) => number = freeBytesOf,
  now: () => number = () => performance.now(),
): DiskRoom {
  let checkedAt = Number.NEGATIVE_INFINITY
  let isScarce = false
  return {
    get isScarce() {
      const at = now()
      if (at - checkedAt < CHECK_MS) return isScarce
      checkedAt = at
      isScarce = freeBytes(folder) < LEAST_FREE_BYTES
      return isScarce
    },
  }
}

/** Infinity where the platform does not say. */
function freeBytesOf(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
