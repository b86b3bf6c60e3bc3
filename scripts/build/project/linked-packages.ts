import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isPackageFile } from '../runtime.ts'

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

/**
 * The folders of a workspace's packages that a project depends on, directly or through another of them: `node_modules` has
 * links to their sources.
 * @param root the project.
 */
export function linkedPackages(root: string): readonly string[] {
  const found = new Set([root])
  for (const folder of found) {
    const { dependencies, devDependencies } = readManifest(folder)
    for (const name of Object.keys({ ...dependencies, ...devDependencies })) {
      const installed = installedFolder(folder, name)
      if (installed !== undefined && !isPackageFile(join(installed, 'package.json'))) found.add(installed)
    }
  }
  return [...found].slice(1)
}

function readManifest(folder: string): Manifest {
  const file = join(folder, 'package.json')
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Manifest) : {}
}

/** Node's own search, with links resolved. */
function installedFolder(from: string, name: string): string | undefined {
  for (let at = from; ; at = dirname(at)) {
    const folder = join(at, 'node_modules', name)
    if (existsSync(folder)) return realpathSync(folder)
    if (dirname(at) === at) return undefined
  }
}
