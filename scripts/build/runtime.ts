import { join, resolve, sep } from 'node:path'

/** The runtime that an application is built with: TypeScript in this repository, JavaScript in an installed package. */
export interface Runtime {
  /** Absolute path of the folder with `client`, `server` and `shared`. */
  readonly folder: string
  /** Whether its modules are compiled, as an installed package has them. */
  readonly compiled: boolean
}

/** The runtime that these scripts belong to. */
export const OWN_RUNTIME: Runtime = {
  folder: resolve(import.meta.dirname, '../../src'),
  compiled: import.meta.filename.endsWith('.js'),
}

/** How packages are resolved: this one's own entries from their sources. `module` is what esbuild adds of itself. */
export const CONDITIONS = OWN_RUNTIME.compiled ? ['module'] : ['millrace-source', 'module']

/** What an installed package has beside its runtime, seen from there: everything in it is the package's. */
const PACKAGE_FOLDER = resolve(OWN_RUNTIME.folder, '..')

const NODE_MODULES = `${sep}node_modules${sep}`

/**
 * Absolute path of a module of a runtime.
 * @param source its path in `src`: `client/entry.tsx`.
 */
export function runtimeModule({ folder, compiled }: Runtime, source: string): string {
  return join(folder, compiled ? source.replace(/\.tsx?$/, '.js') : source)
}

/** Whether an absolute path is that of a package's file: also of this package, where `node_modules` only has a link to it. */
export function isPackageFile(file: string): boolean {
  return file.includes(NODE_MODULES) || (OWN_RUNTIME.compiled && file.startsWith(PACKAGE_FOLDER + sep))
}
