import { join, resolve, sep } from 'node:path'

/** The runtime of an application: TypeScript in this repository, JavaScript in an installed package. */
export interface Runtime {
  /** Absolute path of the folder with `client`, `server` and `shared`. */
  readonly folder: string
  /** Whether its modules are compiled, as in an installed package. */
  readonly compiled: boolean
}

/** The runtime to which these scripts belong. */
export const OWN_RUNTIME: Runtime = {
  folder: resolve(import.meta.dirname, '../../src'),
  compiled: import.meta.filename.endsWith('.js'),
}

/** How packages are resolved: this one's own entries from their sources. esbuild adds `module` by default. */
export const CONDITIONS = OWN_RUNTIME.compiled ? ['module'] : ['millrace-source', 'module']

/** The folder around the runtime of an installed package: everything in it belongs to the package. */
const PACKAGE_FOLDER = resolve(OWN_RUNTIME.folder, '..')

const NODE_MODULES = `${sep}node_modules${sep}`

/**
 * Absolute path of a module of a runtime.
 * @param source its path in `src`: `client/entry.tsx`.
 */
export function runtimeModule({ folder, compiled }: Runtime, source: string): string {
  return join(folder, compiled ? source.replace(/\.tsx?$/, '.js') : source)
}

/** Whether a file is a module of the runtime: an application of this repository is inside of the same folder. */
export function isOfRuntime(
  { app, runtime = OWN_RUNTIME }: { readonly app: string; readonly runtime?: Runtime | undefined },
  file: string,
): boolean {
  return file.startsWith(runtime.folder + sep) && !file.startsWith(app + sep)
}

/** Whether a path is that of a package's file. This package counts even if `node_modules` only has a link to it. */
export function isPackageFile(file: string): boolean {
  return file.includes(NODE_MODULES) || (OWN_RUNTIME.compiled && file.startsWith(PACKAGE_FOLDER + sep))
}
