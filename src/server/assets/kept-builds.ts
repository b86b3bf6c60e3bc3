/**
 * Files of other builds, for pages that were opened before a deployment. Kept builds are folders named by build id. Each
 * contains the files under the names of their URLs, and `.last-used`: the last time at which the build was known to be in
 * use, in ISO 8601. The time is in a file because copies lose time stamps. A rename makes a build's folder appear
 * complete.
 *
 * `npm run build` keeps former builds in `dist/former`; servers also put theirs into `ASSETS_DIR`, if it is set.
 *
 * Bound: `KEEP_ASSETS_DAYS`, `MOST_BUILDS` and `MOST_BYTES`; the least recently used builds go first.
 */
import { randomUUID } from 'node:crypto'
import { constants, type Dirent } from 'node:fs'
import { copyFile, link, lstat, mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A day, as `KEEP_ASSETS_DAYS` counts them. */
export const DAY_MS = 86_400_000

/** Limits of a folder of kept builds. */
export const MOST_BUILDS = 50
/** Of all their files. */
export const MOST_BYTES = 268_435_456 // 256 MiB: a hundred builds of 2.5 MB

const LAST_USED = '.last-used'
const BUILD_ID = /^[\w-]{1,64}$/
const FILE_NAME = /^\w[\w.-]{0,200}$/
const STAGING = '.keeping-'
const LONGEST_LINE = 100
/** Another process may still be writing a younger one. */
const STAGING_MS = 3_600_000

/** One build in a folder of kept ones. */
export interface KeptBuild {
  readonly buildId: string
  /** Absolute path of its files. */
  readonly folder: string
  /** Milliseconds since the epoch. */
  readonly lastUsed: number
}

/** How long builds are kept, and the current time. */
interface KeepingTime {
  /** Milliseconds since the epoch. */
  readonly now: number
  /** Milliseconds; 0 keeps nothing. */
  readonly keepMs: number
}

/** Whether a name can be that of a build's file: it stays inside the folder and is not hidden. */
export function isAssetName(name: string): boolean {
  return FILE_NAME.test(name)
}

/** The kept builds that are not too old, the latest used first; empty if the folder does not exist. */
export async function readKeptBuilds(folder: string, { now, keepMs }: KeepingTime): Promise<readonly KeptBuild[]> {
  const builds: KeptBuild[] = []
  for (const buildId of (await namesIn(folder)).filter((name) => BUILD_ID.test(name))) {
    const path = join(folder, buildId)
    const lastUsed = Date.parse((await readLine(join(path, LAST_USED)).catch(() => '')).trim())
    if (now - lastUsed < keepMs) builds.push({ buildId, folder: path, lastUsed })
  }
  return builds.toSorted((a, b) => b.lastUsed - a.lastUsed)
}

/** Names of the files of a kept build. Anything but a regular file could keep its reader waiting. */
export async function keptFiles({ folder }: Pick<KeptBuild, 'folder'>): Promise<readonly string[]> {
  const entries = await entriesIn(folder)
  return entries.flatMap((entry) => (entry.isFile() && isAssetName(entry.name) ? [entry.name] : []))
}

/** A build to be kept. */
interface BuildToKeep {
  readonly buildId: string
  /** Absolute path of its public folder. */
  readonly from: string
  /** When it was last used, in milliseconds since the epoch. */
  readonly lastUsed: number
  /** Files to leave out; default: none. */
  readonly without?: ReadonlySet<string>
}

/**
 * Adds a build to a folder of kept ones, or marks an existing one as used.
 * @throws errors of the file system.
 */
export async function keepBuild(folder: string, { buildId, from, lastUsed, without }: BuildToKeep): Promise<void> {
  if (!BUILD_ID.test(buildId)) return
  const path = join(folder, buildId)
  if ((await namesIn(path)).includes(LAST_USED)) return tellUse(path, lastUsed)
  const staging = join(folder, STAGING + randomUUID())
  await mkdir(staging, { recursive: true })
  try {
    const names = (await keptFiles({ folder: from })).filter((name) => without?.has(name) !== true)
    for (const name of names) await linkOrCopy(join(from, name), join(staging, name))
    await tellUse(staging, lastUsed)
    // Two instances of one build may do this at once; both have the same files.
    await rename(staging, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
    })
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
}

/**
 * Removes builds above the limits, and leftovers of interrupted processes. Whatever else is in the folder stays: its
 * operator may have named one that is used for more.
 * @param own a build that always stays.
 */
export async function pruneKeptBuilds(folder: string, time: KeepingTime, own?: string): Promise<void> {
  const kept = await readKeptBuilds(folder, time)
  const staying = new Set(own === undefined ? [] : [own])
  let bytes = 0
  for (const { buildId, folder: path } of kept) {
    bytes += await sizeOf(path)
    if (bytes > MOST_BYTES || staying.size >= MOST_BUILDS) break
    staying.add(buildId)
  }
  for (const name of await namesIn(folder)) {
    const path = join(folder, name)
    const isLeft = name.startsWith(STAGING) && time.now - (await changedAt(path)) > STAGING_MS
    const isOver = BUILD_ID.test(name) && !staying.has(name) && (await isBuild(path))
    if (isLeft || isOver) await rm(path, { recursive: true, force: true })
  }
}

/** Whether a folder is one that `keepBuild` has made. */
async function isBuild(path: string): Promise<boolean> {
  const isFolder = (await lstat(path).catch(() => undefined))?.isDirectory() === true
  return isFolder && (await entriesIn(path)).some((entry) => entry.name === LAST_USED && entry.isFile())
}

async function tellUse(path: string, time: number): Promise<void> {
  const file = join(path, LAST_USED)
  const written = `${file}-${randomUUID()}`
  await writeFile(written, new Date(time).toISOString())
  await rename(written, file)
}

/** A link takes no disk space; across file systems it is impossible. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  await link(from, to).catch(() => copyFile(from, to))
}

async function sizeOf(folder: string): Promise<number> {
  let bytes = 0
  for (const name of await keptFiles({ folder })) bytes += (await stat(join(folder, name))).size
  return bytes
}

async function changedAt(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.mtimeMs ?? Date.now()
}

/** The beginning of a file that a neighbour may have made: another kind of file neither waits nor ends. */
async function readLine(path: string): Promise<string> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  const { bytesRead, buffer } = await file.read(Buffer.alloc(LONGEST_LINE))
  return buffer.toString('utf8', 0, bytesRead)
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return (await entriesIn(folder)).map(({ name }) => name)
}

async function entriesIn(folder: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true })
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return []
    throw error
  }
}
