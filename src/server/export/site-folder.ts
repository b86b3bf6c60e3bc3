import { mkdir, readdir, readFile, rename, rm, rmdir, stat, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Lists the files of an export, so that the next one knows what it may replace. */
const MARKER = '.millrace-export.json'
/** The files until all are there. Beside them, because a rename works within one file system. */
const STAGING = '.millrace-export.part'

/** The folder is not one of an export. */
export class FolderFault extends Error {
  override readonly name = 'FolderFault'
}

/** The folder to which a site is exported. Its files are replaced when the export has succeeded. */
export interface SiteFolder {
  /** @param name from the folder, without a leading slash. */
  write(name: string, contents: string | Uint8Array): Promise<void>
  /** Replaces the former export. @param names of all files. */
  publish(names: readonly string[]): Promise<void>
  /** Removes what has been written and is not published. */
  discard(): Promise<void>
}

/**
 * Opens the folder, and makes it if it is missing.
 * @throws {FolderFault} if it holds anything but a former export.
 */
export async function openSiteFolder(folder: string): Promise<SiteFolder> {
  await mkdir(folder, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    throw new FolderFault(`${folder} cannot be made: ${error.message}`)
  })
  const former = await readMarker(folder)
  await refuseOthers(folder, new Set(former))
  const staging = join(folder, STAGING)
  await rm(staging, { recursive: true, force: true })
  /** Folders that are there. Bound: those of the site. */
  const made = new Set<string>()

  return {
    async write(name, contents) {
      const file = join(staging, name)
      const parent = dirname(file)
      if (!made.has(parent)) await mkdir(parent, { recursive: true })
      made.add(parent)
      await writeFile(file, contents)
      await keepTime(file, join(folder, name), contents)
    },
    async publish(names) {
      await writeFile(join(staging, MARKER), `${JSON.stringify({ files: names }, undefined, 1)}\n`)
      for (const name of new Set(former.map((file) => file.split('/', 1)[0] ?? file))) {
        await rm(join(folder, name), { recursive: true, force: true })
      }
      await rm(join(folder, MARKER), { force: true })
      for (const name of await readdir(staging)) await rename(join(staging, name), join(folder, name))
      await rmdir(staging)
    },
    discard: () => rm(staging, { recursive: true, force: true }),
  }
}

async function readMarker(folder: string): Promise<readonly string[]> {
  const text = await readFile(join(folder, MARKER), 'utf8').catch(() => undefined)
  if (text === undefined) return []
  const { files } = JSON.parse(text) as { readonly files?: unknown }
  return Array.isArray(files) ? files.map(String) : []
}

/** @throws {FolderFault} */
async function refuseOthers(folder: string, former: ReadonlySet<string>): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  for (const entry of entries) {
    const name = join(entry.parentPath, entry.name).slice(join(folder, '/').length).replaceAll('\\', '/')
    if (entry.isDirectory() || name === MARKER || name.startsWith(`${STAGING}/`) || former.has(name)) continue
    throw new FolderFault(
      `${folder} holds ${name}, which no export has written. Name a folder that is empty, missing, or a former export.`,
    )
  }
}

/** Servers of files tell browsers the time of a file: one with the same content keeps that of the former export. */
async function keepTime(file: string, former: string, contents: string | Uint8Array): Promise<void> {
  const known = await stat(former).catch(() => undefined)
  if (known?.isFile() !== true || known.size !== Buffer.byteLength(contents)) return
  if (Buffer.from(contents).equals(await readFile(former))) await utimes(file, known.atime, known.mtime)
}
