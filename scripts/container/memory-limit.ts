import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A group of processes with a common memory limit. */
export interface MemoryGroup {
  /** A process joins by writing `0` to this file. */
  readonly processes: string
  /** Its peak usage so far, in bytes; `undefined` if the kernel does not report it. */
  peak(): number | undefined
  /** Removes it, after all of its processes have ended. */
  close(): void
}

interface GroupFiles {
  readonly limit: string
  readonly peak: string
}

const MOUNT = '/sys/fs/cgroup'
const FIRST: GroupFiles = { limit: 'memory.limit_in_bytes', peak: 'memory.max_usage_in_bytes' }
const SECOND: GroupFiles = { limit: 'memory.max', peak: 'memory.peak' }

/**
 * Creates a control group with a limit, as an engine does for `--memory`.
 * @param bytes the limit.
 * @returns the reason if this machine does not allow it.
 */
export function limitMemory(name: string, bytes: number): MemoryGroup | string {
  const first = existsSync(join(MOUNT, 'memory'))
  const parent = first ? join(MOUNT, 'memory', ownGroup('memory')) : MOUNT
  const files = first ? FIRST : SECOND
  const folder = join(existsSync(parent) ? parent : join(MOUNT, 'memory'), name)
  try {
    mkdirSync(folder)
  } catch (error) {
    return `cannot create a control group: ${reasonOf(error)}`
  }
  const close = (): void => rmdirSync(folder)
  try {
    writeFileSync(join(folder, files.limit), String(bytes), { flag: 'r+' })
  } catch (error) {
    close()
    return `the control group of this machine has no memory limit: ${reasonOf(error)}`
  }
  return {
    processes: join(folder, 'cgroup.procs'),
    peak: () =>
      existsSync(join(folder, files.peak)) ? Number(readFileSync(join(folder, files.peak), 'utf8')) : undefined,
    close,
  }
}

/** The group of this process in a hierarchy of cgroups version 1. */
function ownGroup(controller: string): string {
  const lines = readFileSync('/proc/self/cgroup', 'utf8').split('\n')
  const own = lines.map((line) => line.split(':')).find(([, names = '']) => names.split(',').includes(controller))
  return own?.[2] ?? '/'
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
