import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, extname, join, relative, sep } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { contentHash, shortHash } from '../content-hash.ts'
import { nodeOptions, type BundleContext } from '../bundle-options.ts'
import type { ServerPlace } from './rewrite-references.ts'

const SCRIPT = /\.[cm]?[jt]sx?$/

/** Files that server modules read, put beside the server's bundle: nothing else of the project is there when it runs. */
interface ServerCopies extends ServerPlace {
  /** Contents by path in the bundle's folder. */
  readonly files: ReadonlyMap<string, Uint8Array>
}

/** @param pluginsFor plugins for the bundle of a script that a worker or a process runs. */
export function createServerCopies(
  context: BundleContext,
  pluginsFor: (script: string) => readonly Plugin[],
): ServerCopies {
  const files = new Map<string, Uint8Array>()
  const copies = new Map<string, Promise<string>>()

  async function copyFile(file: string): Promise<string> {
    const contents = await readFile(file)
    const ending = extname(file)
    const name = `files/${basename(file, ending)}-${shortHash(contents)}${ending}`
    files.set(name, contents)
    return name
  }

  async function copyFolder(folder: string): Promise<string> {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true })
    const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
    const contents = await Promise.all(
      paths
        .toSorted()
        .map(async (path) => [relative(folder, path).split(sep).join('/'), await readFile(path)] as const),
    )
    const name = `files/${basename(folder)}-${contentHash(...contents.flat()).slice(0, 10)}`
    for (const [path, text] of contents) files.set(`${name}/${path}`, text)
    return name
  }

  /** Beside the bundle itself, so that its own copies are found from there. */
  async function bundle(file: string): Promise<string> {
    const { outputFiles = [] } = await build({
      ...nodeOptions(context, { [basename(file).replace(SCRIPT, '')]: file }, pluginsFor(file)),
      splitting: false,
      sourcemap: false,
      entryNames: '[name]-[hash]',
    })
    const [output] = outputFiles
    if (output === undefined) throw new Error(`esbuild has made nothing of ${file}`)
    files.set(basename(output.path), output.contents)
    return basename(output.path)
  }

  return {
    files,
    async copyOf(file, runs) {
      const key = `${runs === undefined ? 'copy' : 'bundle'} ${file}`
      const isFolder = (await stat(file)).isDirectory()
      const known =
        copies.get(key) ?? (isFolder ? copyFolder : runs !== undefined && SCRIPT.test(file) ? bundle : copyFile)(file)
      copies.set(key, known)
      return `./${await known}`
    },
  }
}
