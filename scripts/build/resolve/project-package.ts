import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { BuildFault } from '../build-fault.ts'

/**
 * Imports a module as a file of the project would: a package of the project, or a path.
 * @param importer absolute path of the file that names it.
 */
export async function importFrom(importer: string, specifier: string): Promise<Readonly<Record<string, unknown>>> {
  return import(pathToFileURL(resolveFrom(importer, specifier)).href)
}

function resolveFrom(importer: string, specifier: string): string {
  try {
    return createRequire(importer).resolve(specifier)
  } catch (error) {
    const file = onlyImported(importer, specifier)
    if (file === undefined) throw error
    return file
  }
}

/** Of a package that only an `import` can load, which `require.resolve` refuses. */
function onlyImported(importer: string, specifier: string): string | undefined {
  const [, name = '', rest = ''] = /^((?:@[^/]+\/)?[^/.][^/]*)(.*)$/.exec(specifier) ?? []
  const folder = foldersAbove(importer).find((one) => existsSync(join(one, 'node_modules', name, 'package.json')))
  if (name === '' || folder === undefined) return undefined
  const root = join(folder, 'node_modules', name)
  const { exports }: { exports?: unknown } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const isMap = typeof exports === 'object' && exports !== null && '.' in exports
  const target = targetOf(isMap || rest !== '' ? (exports as Record<string, unknown>)[`.${rest}`] : exports)
  return target === undefined ? undefined : join(root, target)
}

function targetOf(exported: unknown): string | undefined {
  if (typeof exported !== 'object' || exported === null) return typeof exported === 'string' ? exported : undefined
  const conditions = Object.entries(exported).filter(([condition]) => ['node', 'import', 'default'].includes(condition))
  return conditions.map(([, target]) => targetOf(target)).find((target) => target !== undefined)
}

/**
 * Imports a package of the project that has to be there.
 * @param names the first that is installed is used.
 * @param user what needs it, for the message: `src/app/styles.scss`.
 * @throws {BuildFault} with the command that installs the last one.
 */
export async function requirePackage(
  root: string,
  names: readonly string[],
  user: string,
): Promise<Readonly<Record<string, unknown>>> {
  for (const name of names) {
    try {
      return await importFrom(join(root, 'package.json'), name)
    } catch (error) {
      if (missingPackage(error) !== name) throw error
    }
  }
  throw new BuildFault(installText(user, names.at(-1) ?? ''))
}

/** What to say where a package is missing. */
export function installText(user: string, name: string): string {
  return `${user} needs ${name}, which is not installed. Install it: npm install --save-dev ${name}`
}

/** The package that an import has not found; `undefined` for any other error. */
export function missingPackage(error: unknown): string | undefined {
  const found =
    error instanceof Error ? /^Cannot find (?:package|module) '([^']+)'/.exec(error.message)?.[1] : undefined
  return found === undefined ? undefined : /^(?:@[^/]+\/)?[^/.][^/]*/.exec(found)?.[0]
}

/** The project, and what is above it in its repository. */
export function foldersOf(root: string): readonly string[] {
  const folders = foldersAbove(join(root, 'package.json'))
  const end = folders.findIndex((folder) => existsSync(join(folder, '.git')))
  return folders.slice(0, Math.max(end, 0) + 1)
}

function foldersAbove(file: string): readonly string[] {
  const folders: string[] = []
  for (let at = dirname(file); ; at = dirname(at)) {
    folders.push(at)
    if (dirname(at) === at) return folders
  }
}
