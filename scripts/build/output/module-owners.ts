import { readFileSync } from 'node:fs'
import { join, resolve, sep } from 'node:path'
import { ACTION_REFERENCES } from '../esbuild-messages.ts'
import { displayPath, type BuildOptions } from '../build-options.ts'
import { REACT_NAMESPACE } from '../resolve/react-module.ts'
import { OWN_RUNTIME } from '../runtime.ts'

/** What a module of a metafile is called in an analysis. */
export interface ModuleOwner {
  /** Distinguishes owners: the package's folder, or the module itself. */
  readonly key: string
  /** The package's name, or the module's path: in the application's folder, else in the project. */
  readonly name: string
  /** Of a package that is installed, in the project. */
  readonly folder?: string
  /** The package's, if its `package.json` tells. */
  readonly version?: string
}

/** Names the owners of modules. `undefined` for the build's own glue, which shows nothing to an author. */
export type OwnerOf = (key: string) => ModuleOwner | undefined

const RUNTIME = 'millrace'
const GLUE = /^first-load:/
const IN_PACKAGE = /^(.*node_modules\/((?:@[^/]+\/)?[^/]+))\//s

/**
 * Creates the function for one project. It reads each package's `package.json` once.
 */
export function createModuleOwners({
  root,
  app,
  runtime = OWN_RUNTIME,
}: Pick<BuildOptions, 'root' | 'app' | 'runtime'>): OwnerOf {
  const versions = new Map<string, string | undefined>()
  const versionOf = (folder: string): string | undefined => {
    if (!versions.has(folder)) versions.set(folder, readVersion(folder))
    return versions.get(folder)
  }
  const versioned = (owner: ModuleOwner, folder: string): ModuleOwner => {
    const version = versionOf(join(root, folder))
    return version === undefined ? owner : { ...owner, version }
  }
  const ours = runtime.compiled
    ? [resolve(runtime.folder, '../..') + sep]
    : ['client', 'shared'].map((folder) => join(runtime.folder, folder) + sep)
  const inApp = `${displayPath(root, app)}/`

  return (key) => {
    if (GLUE.test(key)) return undefined
    if (key.startsWith(`${REACT_NAMESPACE}:`)) {
      return versioned({ key: REACT_NAMESPACE, name: 'react and react-dom' }, 'node_modules/react')
    }
    const path = key.replace(/^[a-z-]+:/, '').replace(/\?.*$/s, '')
    const file = resolve(root, path)
    if (ours.some((folder) => file.startsWith(folder))) return { key: RUNTIME, name: RUNTIME }
    const [, folder, name] = IN_PACKAGE.exec(path) ?? []
    if (folder !== undefined && name !== undefined) return versioned({ key: folder, name, folder }, folder)
    const shown = path.startsWith(inApp) ? path.slice(inApp.length) : path
    return { key, name: key.startsWith(`${ACTION_REFERENCES}:`) ? `${shown} (references)` : shown }
  }
}

function readVersion(folder: string): string | undefined {
  try {
    const { version }: { version?: unknown } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    return typeof version === 'string' ? version : undefined
  } catch {
    return undefined
  }
}
