import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { InstalledPackage } from './package-closure.ts'

/** Where a build keeps its source maps. */
const MAPS = ['server', 'maps']
/** Up to the last `node_modules`: a package may contain its own copy of another one. */
const IN_PACKAGE = /(?:^|\/)(node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)\//

/**
 * The packages whose code is in a build's bundles, according to its source maps.
 * @param dist absolute path of a build.
 * @returns their folders, relative to the project: `node_modules/react`.
 */
export function bundledFolders(dist: string): readonly string[] {
  const folders = new Set<string>()
  for (const place of MAPS.map((name) => join(dist, name))) {
    for (const name of readdirSync(place).filter((name) => name.endsWith('.map'))) {
      const { sources } = JSON.parse(readFileSync(join(place, name), 'utf8')) as { readonly sources: readonly string[] }
      for (const source of sources) {
        const folder = IN_PACKAGE.exec(source)?.[1]
        if (folder !== undefined) folders.add(folder)
      }
    }
  }
  return [...folders].toSorted()
}

/**
 * The same, with their versions.
 * @param root absolute path of the project whose packages were bundled.
 * @throws {Error} for a package that is no longer there.
 */
export function bundledPackages(dist: string, root: string): readonly InstalledPackage[] {
  return bundledFolders(dist).map((path) => {
    const folder = join(root, path)
    const file = join(folder, 'package.json')
    if (!existsSync(file)) throw new Error(`${path} is part of the bundles but not installed`)
    const { version } = JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }
    return { name: packageName(path), version, folder }
  })
}

/** `@scope/name` or `name` of a package's folder. */
export function packageName(folder: string): string {
  return folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length)
}
