import { sep } from 'node:path'
import type { Metafile, Plugin } from 'esbuild'
import { BuildFault } from './build-fault.ts'
import { isLookUp, lookUp } from './look-up.ts'
import { OWN_RUNTIME, type Runtime } from './runtime.ts'

const REACT = /^(.*node_modules\/(react(?:-dom)?))\/(?!.*node_modules\/)/

/**
 * Gives the runtime the project's React, even if `node_modules` has only a link to the runtime, as in a monorepo: it would
 * find another one beside itself.
 * @param root the project.
 */
export function reactOfProject(root: string, { folder }: Runtime = OWN_RUNTIME): Plugin {
  return {
    name: 'react-of-project',
    setup(build) {
      build.onResolve({ filter: /^react(?:-dom)?(?:$|\/)/ }, async (args) => {
        const isOurs = args.importer.startsWith(folder + sep) && !isLookUp(args)
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
