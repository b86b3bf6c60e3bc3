/**
 * Files of other builds, for pages that were opened before a deployment. A folder of kept builds holds a folder for each,
 * named by its build id; in that, the files under the names of their URLs, and `.last-used`: the time at which the build
 * was known to be in use, as ISO 8601. Contents and not time stamps, because copies lose those. A build's folder appears
 * whole, by a rename.
 *
 * `npm run build` keeps the former builds in `dist/former`; servers put theirs into `ASSETS_DIR`, where it is set.
 *
 * Bound: `KEEP_ASSETS_DAYS`, `MOST_BUILDS` and `MOST_BYTES`; those that were used longest ago go first.
 */
import { randomUUID } from 'node:crypto'
import { copyFile, link, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A day, as `KEEP_ASSETS_DAYS` counts them. */
export const DAY_MS = 86_400_000

/** What a folder of kept builds may hold. */
export const MOST_BUILDS = 50
/** Of all their files, in bytes. */
export const MOST_BYTES = 268_435_456 // 256 MiB: a hundred builds of 2.5 MB

const LAST_USED = '.last-used'
const BUILD_ID = /^[\w-]{1,64}$/
const FILE_NAME = /^\w[\w.-]{0,200}$/
const STAGING = '.keeping-'
/** Another process may still be at it. */
const STAGING_MS = 3_600_000

/** One build in a folder of kept ones. */
export interface KeptBuild {
  readonly buildId: string
  /** Absolute path of its files. */
  readonly folder: string
  /** Milliseconds since the epoch. */
  readonly lastUsed: number
}

/** For how long builds are kept, from when on. */
export interface KeepingTime {
  /** Milliseconds since the epoch. */
  readonly now: number
  /** Milliseconds; 0 keeps nothing. */
  readonly keepMs: number
}

/** Whether a name can be that of a file of a build: none leads out of its folder, and none is hidden. */
export function isAssetName(name: string): boolean {
  return FILE_NAME.test(name)
}

/** The builds that are kept there and not too old, the latest used first; none where there is no such folder. */
export async function readKeptBuilds(folder: string, { now, keepMs }: KeepingTime): Promise<readonly KeptBuild[]> {
  const builds: KeptBuild[] = []
  for (const buildId of (await namesIn(folder)).filter((name) => BUILD_ID.test(name))) {
    const path = join(folder, buildId)
    const lastUsed = Date.parse((await readFile(join(path, LAST_USED), 'utf8').catch(() => '')).trim())
    if (now - lastUsed < keepMs) builds.push({ buildId, folder: path, lastUsed })
  }
  return builds.toSorted((a, b) => b.lastUsed - a.lastUsed)
}

/** Names of the files of a kept build. */
export async function keptFiles({ folder }: Pick<KeptBuild, 'folder'>): Promise<readonly string[]> {
  return (await namesIn(folder)).filter(isAssetName)
}

/** What is to be kept. */
export interface BuildToKeep {
  readonly buildId: string
  /** Absolute path of its public folder. */
  readonly from: string
  /** When it was last used, in milliseconds since the epoch. */
  readonly lastUsed: number
  /** Files that need not be kept; none unless told. */
  readonly without?: ReadonlySet<string>
}

/**
 * Puts a build into a folder of kept ones, or says of one that is there already that it is used.
 * @throws what the file system throws.
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
    // Two instances of one build may be at it at once, and both have the same files.
    await rename(staging, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
    })
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
}

/**
 * Removes what is too old or too much, and what interrupted processes have left behind.
 * @param own a build that stays in any case.
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
    if (isLeft || (BUILD_ID.test(name) && !staying.has(name))) await rm(path, { recursive: true, force: true })
  }
}

async function tellUse(path: string, time: number): Promise<void> {
  const file = join(path, LAST_USED)
  const written = `${file}-${randomUUID()}`
  await writeFile(written, new Date(time).toISOString())
  await rename(written, file)
}

/** A link costs no room; across file systems there is none. */
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

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return []
    throw error
  }
}
