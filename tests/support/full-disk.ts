import { spawnSync } from 'node:child_process'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** A way to let a server run out of disk, and to give it room again. */
interface FullDisk {
  readonly name: string
  /** Whether this machine lets us. */
  readonly isPossible: boolean
  /** For `startBuiltServer`. */
  readonly through?: (dataDir: string) => readonly string[]
  fill(server: DiskUser): Promise<void>
  makeRoom(server: DiskUser): Promise<void>
}

/** Whose disk it is. */
interface DiskUser {
  readonly pid: number
  readonly dataDir: string
}

const SIZE = '4m' // what a fresh DATA_DIR holds is below a megabyte
const MOUNT = `mount -t tmpfs -o size=${SIZE} tmpfs "$0" && exec "$@"`
const FILLER = 'filler'
const STEP_BYTES = 4_096 // a page of tmpfs; nothing smaller than that is left

const mounted = (folder: string): readonly string[] => ['unshare', '--mount', 'sh', '-c', MOUNT, folder]

function succeeds(command: readonly string[]): boolean {
  const [program = '', ...args] = command
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0
}

/** A file system of a few megabytes, which only the server sees and which goes with it. */
const SMALL_FILE_SYSTEM: FullDisk = {
  name: 'a full file system',
  isPossible: succeeds([...mounted('/tmp'), 'true']),
  through: mounted,
  async fill(server) {
    const file = await open(fillerOf(server), 'a')
    try {
      for (;;) await file.appendFile(Buffer.alloc(STEP_BYTES))
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
    } finally {
      await file.close()
    }
  },
  makeRoom: (server) => rm(fillerOf(server)),
}

/** What a process sees of the file systems. Source: proc(5). */
function fillerOf({ pid, dataDir }: DiskUser): string {
  return join(`/proc/${pid}/root`, dataDir, FILLER)
}

/** No file may get longer. Source: getrlimit(2), `RLIMIT_FSIZE`; Node ignores the signal that comes with it. */
const FILE_SIZE_LIMIT: FullDisk = {
  name: 'a limit of file sizes',
  isPossible: succeeds(['prlimit', '--version']),
  async fill({ pid }) {
    if (!succeeds(['prlimit', '--pid', String(pid), '--fsize=0:unlimited'])) throw new Error('The limit was refused')
  },
  async makeRoom({ pid }) {
    if (!succeeds(['prlimit', '--pid', String(pid), '--fsize=unlimited:unlimited'])) throw new Error('It stays')
  },
}

/** All ways. */
export const FULL_DISKS: readonly FullDisk[] = [SMALL_FILE_SYSTEM, FILE_SIZE_LIMIT]
