import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative } from 'node:path'
import { keepBuild, pruneKeptBuilds, readKeptBuilds } from '../../../src/server/assets/kept-builds.ts'
import { BUILD_INFO, type BuildInfo } from './build-info.ts'
import type { BuildOptions } from '../build-options.ts'

/** A folder in which a build is assembled before it replaces the former one. */
interface OutputFolder {
  /** The temporary folder; beside the final one, so that it can be renamed and packages resolve from it. */
  readonly staging: string
  /** Writes files by their path in the build. */
  write(files: ReadonlyMap<string, Uint8Array | string>): Promise<void>
  /**
   * Keeps the files of the replaced build, and of those that it has kept itself, except for files that the staged build
   * has too. See `src/server/assets/kept-builds.ts`.
   */
  keepFormer(build: NewBuild): Promise<void>
  /** Replaces the former build, which is untouched until then. */
  publish(): Promise<void>
  /** Removes the staging folder; harmless after `publish`. */
  discard(): Promise<void>
}

/** The build that replaces the former one. */
interface NewBuild {
  readonly buildId: string
  /** Names of its public files. */
  readonly names: Iterable<string>
  /** Milliseconds since the epoch: when it replaces the former one. */
  readonly now: number
  /** Milliseconds; 0 keeps nothing. */
  readonly keepMs: number
}

const FORMER_BUILDS = 'former'
const STAGING = '.building-'
const FORMER = '.former-'

/**
 * Creates the staging folder and removes those of killed builds.
 * @param options the project, and the final folder.
 * @param builder the process; distinguishes the folders of concurrent builds.
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
    async keepFormer({ buildId, names, now, keepMs }) {
      const kept = join(staging, FORMER_BUILDS)
      const without = new Set(names)
      const known = await readKeptBuilds(join(out, FORMER_BUILDS), { now, keepMs })
      const replaced = await readBuildId(out)
      if (replaced !== undefined && keepMs > 0) {
        await keepBuild(kept, { buildId: replaced, from: join(out, 'public'), lastUsed: now, without })
      }
      for (const { buildId: former, folder, lastUsed } of known) {
        if (former === replaced) continue
        await keepBuild(kept, { buildId: former, from: folder, lastUsed, without })
      }
      // A build that was made again is not a former build.
      await rm(join(kept, buildId), { recursive: true, force: true })
      await pruneKeptBuilds(kept, { now, keepMs })
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
interface BuilderProcess {
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

/** Of the build in a folder, if there is a complete one. */
async function readBuildId(folder: string): Promise<string | undefined> {
  const text = await readFile(join(folder, BUILD_INFO), 'utf8').catch(() => undefined)
  return text === undefined ? undefined : (JSON.parse(text) as Partial<BuildInfo>).buildId
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}
