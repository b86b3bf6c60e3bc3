import { sep } from 'node:path'
import type { Metafile, Plugin } from 'esbuild'
import { BuildFault } from '../build-fault.ts'
import { isLookUp, lookUp } from './look-up.ts'
import { isPackageFile, OWN_RUNTIME, type Runtime } from '../runtime.ts'

const REACT = /^(.*node_modules\/(react(?:-dom)?))\/(?!.*node_modules\/)/

/** Name of the plugin. */
export const ONE_REACT = 'react-of-project'

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
 */
export function reactOfProject(root: string, { folder }: Runtime = OWN_RUNTIME): Plugin {
  return {
    name: ONE_REACT,
    setup(build) {
      build.onResolve({ filter: REACT_IMPORT }, async (args) => {
        const isOurs = args.importer.startsWith(folder + sep) || isLinked(root, args.resolveDir)
        const found = isOurs && !isLookUp(args) ? await lookUp(build, { ...args, resolveDir: root }) : undefined
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
