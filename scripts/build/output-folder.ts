import { mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative } from 'node:path'
import type { BuildOptions } from './build-options.ts'

/** Where a build is put together before it takes the place of the former one. */
export interface OutputFolder {
  /** The temporary folder; beside the final one, so that it can be renamed and packages are found from it. */
  readonly staging: string
  /** Writes files by their path in the build. */
  write(files: ReadonlyMap<string, Uint8Array | string>): Promise<void>
  /** Replaces the former build. Until then that is untouched. */
  publish(): Promise<void>
  /** Removes what was staged; harmless after `publish`. */
  discard(): Promise<void>
}

const STAGING = '.building-'
const FORMER = '.former-'

/**
 * Prepares the staging folder and removes those that killed builds have left behind.
 * @param options the project, and the final folder.
 * @param builder who builds: tells the folders of builds running side by side apart.
 */
export async function openOutputFolder(
  { root, out }: Pick<BuildOptions, 'root' | 'out'>,
  builder: BuilderProcess,
): Promise<OutputFolder> {
  const { pid } = builder
  const parent = dirname(out)
  const staging = join(parent, `${basename(out)}${STAGING}${pid}`)
  const former = join(parent, `${basename(out)}${FORMER}${pid}`)
  await mkdir(parent, { recursive: true })
  for (const name of await readdir(parent)) {
    const prefix = [STAGING, FORMER].map((kind) => basename(out) + kind).find((start) => name.startsWith(start))
    const owner = prefix === undefined ? undefined : Number(name.slice(prefix.length))
    if (owner !== undefined && (owner === pid || !builder.isAlive(owner)))
      await rm(join(parent, name), { recursive: true })
  }
  await mkdir(staging)
  const fromRoot = relative(root, out)
  if (fromRoot.startsWith('..') || isAbsolute(fromRoot)) {
    await symlink(join(root, 'node_modules'), join(staging, 'node_modules'))
  }

  return {
    staging,
    async write(files) {
      const folders = new Set([...files.keys()].map((name) => dirname(join(staging, name))))
      for (const folder of folders) await mkdir(folder, { recursive: true })
      await Promise.all([...files].map(([name, contents]) => writeFile(join(staging, name), contents)))
    },
    async publish() {
      await rename(out, former).catch(ignoreMissing)
      await rename(staging, out)
      await rm(former, { recursive: true, force: true })
    },
    async discard() {
      await rm(staging, { recursive: true, force: true })
    },
  }
}

/** The process that builds. */
export interface BuilderProcess {
  readonly pid: number
  /** Whether a process with this id runs. */
  isAlive(pid: number): boolean
}

/** This process. */
export const THIS_PROCESS: BuilderProcess = {
  pid: process.pid,
  isAlive(pid) {
    try {
      return process.kill(pid, 0)
    } catch (error) {
      return error instanceof Error && 'code' in error && error.code === 'EPERM'
    }
  },
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}
