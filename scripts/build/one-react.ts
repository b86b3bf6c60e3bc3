import { sep } from 'node:path'
import type { Metafile, Plugin } from 'esbuild'
import { BuildFault } from './build-fault.ts'
import { isLookUp, lookUp } from './look-up.ts'
import { isPackageFile, OWN_RUNTIME, type Runtime } from './runtime.ts'

const REACT = /^(.*node_modules\/(react(?:-dom)?))\/(?!.*node_modules\/)/

/** React's own specifiers. */
export const REACT_IMPORT = /^react(?:-dom)?(?:$|\/)/

/** Whether a folder belongs to a linked package: sources of a workspace outside of the project. */
export function isLinked(root: string, folder: string): boolean {
  return !folder.startsWith(root + sep) && folder !== root && !isPackageFile(folder + sep)
}

/**
 * Gives the project's React to the runtime and to linked packages of a workspace, which may find another one beside
 * themselves.
 * @param root the project.
 * @param app the application, which may be inside of the runtime's folder: it finds the project's React itself.
 */
export function reactOfProject(root: string, { folder }: Runtime = OWN_RUNTIME, app?: string): Plugin {
  const isRuntimes = (file: string): boolean =>
    file.startsWith(folder + sep) && (app === undefined || !file.startsWith(app + sep))
  return {
    name: 'react-of-project',
    setup(build) {
      build.onResolve({ filter: REACT_IMPORT }, async (args) => {
        const isOurs = (isRuntimes(args.importer) || isLinked(root, args.resolveDir)) && !isLookUp(args)
        const found = isOurs ? await lookUp(build, { ...args, resolveDir: root }) : undefined
        return found && { path: found.path, sideEffects: found.sideEffects }
      })
    },
  }
}

/**
 * Checks that the server's bundle has one copy of React: hooks of a second one fail.
 * @throws {BuildFault} in one line that names the copies.
 */
export function requireOneReact({ inputs }: Pick<Metafile, 'inputs'>): void {
  const copies = new Map<string, Set<string>>()
  for (const key of Object.keys(inputs)) {
    const [, folder, name] = REACT.exec(key) ?? []
    if (folder === undefined || name === undefined) continue
    copies.set(name, (copies.get(name) ?? new Set()).add(folder))
  }
  for (const [name, folders] of copies) {
    if (folders.size < 2) continue
    throw new BuildFault(
      `Two copies of ${name} are installed, and hooks fail with two: ${[...folders].join(' and ')}. ` +
        `npm ls ${name} shows which packages bring them.`,
    )
  }
}
