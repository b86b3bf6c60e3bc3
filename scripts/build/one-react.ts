import type { Metafile } from 'esbuild'
import { BuildFault } from './build-fault.ts'

const REACT = /^(.*node_modules\/(react(?:-dom)?))\/(?!.*node_modules\/)/

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
