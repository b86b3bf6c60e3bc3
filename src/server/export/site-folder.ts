import { mkdir, mkdtemp, readdir, readFile, rename, rm, rmdir, stat, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { MARKER, STAGING } from './file-names.ts'

/** What hosts and desktops put beside a site. */
const OF_OTHERS = /^(?:CNAME|\.nojekyll|(?:.*\/)?\.DS_Store)$/

/** The folder is not one of an export. */
export class FolderFault extends Error {
  override readonly name = 'FolderFault'
}

/** The folder to which a site is exported. Its files are replaced when the export has succeeded. */
export interface SiteFolder {
  /** @param name from the folder, without a leading slash. */
  write(name: string, contents: string | Uint8Array): Promise<void>
  /**
   * Replaces the former export.
   * @param names of all files.
   * @throws {FolderFault} if something else has been put there meanwhile: nothing is replaced then.
   */
  publish(names: readonly string[]): Promise<void>
  /** Removes what has been written and is not published. */
  discard(): Promise<void>
}

/**
 * Opens the folder, and makes it if it is missing.
 * @throws {FolderFault} if it holds anything but a former export.
 */
export async function openSiteFolder(folder: string): Promise<SiteFolder> {
  const refuse = (error: NodeJS.ErrnoException): never => {
    throw new FolderFault(`${folder} cannot be made or written: ${error.message}`)
  }
  await mkdir(folder, { recursive: true }).catch(refuse)
  await formerExport(folder)
  const staging = await mkdtemp(join(folder, STAGING)).catch(refuse)
  /** Folders that are there. Bound: those of the site. */
  const made = new Set<string>()
  const makeParent = async (file: string): Promise<void> => {
    const parent = dirname(file)
    if (!made.has(parent)) await mkdir(parent, { recursive: true })
    made.add(parent)
  }
  const mark = async (files: readonly string[]): Promise<void> => {
    await writeFile(join(staging, MARKER), `${JSON.stringify({ files }, undefined, 1)}\n`)
    await rename(join(staging, MARKER), join(folder, MARKER))
  }

  return {
    async write(name, contents) {
      const file = join(staging, name)
      await makeParent(file)
      await writeFile(file, contents)
      await keepTime(file, join(folder, name), contents)
    },
    async publish(names) {
      const { files, folders } = await formerExport(folder)
      const stays = new Set(names)
      // An export that is cut off from here on is still one that the next may replace.
      await mark([...new Set([...files, ...names])])
      for (const name of files) if (!stays.has(name)) await rm(join(folder, name), { force: true })
      // The deepest first. Those with something in them stay.
      for (const name of folders.toReversed()) await rmdir(join(folder, name)).catch(() => undefined)
      for (const name of names) {
        await makeParent(join(folder, name))
        await rename(join(staging, name), join(folder, name))
      }
      await mark(names)
      await rm(staging, { recursive: true })
    },
    discard: () => rm(staging, { recursive: true, force: true }),
  }
}

/** What is in a folder: names from there, folders before what is in them. */
interface FormerExport {
  readonly files: readonly string[]
  readonly folders: readonly string[]
}

/**
 * Finds what a former export has written and is still there. Symbolic links are not followed: nothing of it is elsewhere.
 * @throws {FolderFault} if something else is there.
 */
async function formerExport(folder: string): Promise<FormerExport> {
  const written = await readMarker(folder)
  const files: string[] = []
  const folders: string[] = []
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const name = join(entry.parentPath, entry.name).slice(join(folder, '/').length).replaceAll('\\', '/')
    if (name === MARKER || name.startsWith(STAGING)) continue
    if (entry.isDirectory()) folders.push(name)
    else if (written.has(name)) files.push(name)
    else if (!OF_OTHERS.test(name))
      throw new FolderFault(
        `${folder} holds ${name}, which no export has written. Name a folder that is empty, missing, or a former export.`,
      )
  }
  return { files, folders }
}

/** @throws {FolderFault} if it is not as an export has written it: what it names would be removed. */
async function readMarker(folder: string): Promise<ReadonlySet<string>> {
  const damaged = (reason: string): FolderFault =>
    new FolderFault(
      `${join(folder, MARKER)} is not as an export has written it: ${reason}. Remove the folder, or choose a different one.`,
    )
  const text = await readFile(join(folder, MARKER), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw damaged(error.message)
  })
  if (text === undefined) return new Set()
  let written: unknown
  try {
    written = JSON.parse(text)
  } catch {
    throw damaged('it is not JSON')
  }
  const files = (written as { readonly files?: unknown } | null)?.files
  if (!Array.isArray(files)) throw damaged('it has no list of files')
  const names: readonly unknown[] = files
  const wrong = names.find((name) => typeof name !== 'string' || !isName(name))
  if (wrong !== undefined) throw damaged(`${JSON.stringify(wrong).slice(0, 200)} names no file of this folder`)
  return new Set(names as readonly string[])
}

function isName(name: string): boolean {
  return !/[\\\0]/.test(name) && name.split('/').every((segment) => !/^\.{0,2}$/.test(segment))
}

/** Servers of files tell browsers the time of a file: one with the same content keeps that of the former export. */
async function keepTime(file: string, former: string, contents: string | Uint8Array): Promise<void> {
  const known = await stat(former).catch(() => undefined)
  if (known?.isFile() !== true || known.size !== Buffer.byteLength(contents)) return
  if (Buffer.from(contents).equals(await readFile(former))) await utimes(file, known.atime, known.mtime)
}
