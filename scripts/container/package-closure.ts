import { existsSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'

/** An installed package. */
export interface InstalledPackage {
  readonly name: string
  readonly version: string
  /** Absolute. */
  readonly folder: string
}

/** A package that the server imports but that is not installed for production. */
class MissingPackageError extends Error {
  override readonly name = 'MissingPackageError'
}

/**
 * Finds the packages that a built server can load: those that its bundle imports, and their dependencies. All other
 * production dependencies are already in the bundles.
 * @param entry absolute path of the server's bundle.
 * @param root absolute path of the folder that contains `node_modules`.
 * @throws {MissingPackageError} naming the package and its dependent.
 */
export async function packageClosure(entry: string, root: string): Promise<readonly InstalledPackage[]> {
  const found = new Map<string, InstalledPackage>()
  const waiting = (await importedPackages(entry)).map((name) => ({ name, from: root, by: entry, needed: true }))
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const folder = installedFolder(next.from, next.name, root)
    if (folder === undefined) {
      if (next.needed) throw new MissingPackageError(`${next.name}, needed by ${next.by}, is not in ${root}`)
      continue
    }
    if (found.has(folder)) continue
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as PackageManifest
    found.set(folder, { name: next.name, version: manifest.version, folder })
    for (const { name, needed } of needsOf(manifest)) waiting.push({ name, from: folder, by: next.name, needed })
  }
  return [...found.values()].toSorted((a, b) => (a.folder < b.folder ? -1 : 1))
}

interface PackageManifest {
  readonly version: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

function needsOf(manifest: PackageManifest): { name: string; needed: boolean }[] {
  const optional = manifest.optionalDependencies ?? {}
  const peers = Object.keys(manifest.peerDependencies ?? {}).filter(
    (name) => manifest.peerDependenciesMeta?.[name]?.optional !== true,
  )
  return [
    ...Object.keys(manifest.dependencies ?? {}).map((name) => ({ name, needed: !(name in optional) })),
    ...[...Object.keys(optional), ...peers].map((name) => ({ name, needed: false })),
  ]
}

/**
 * A call of a function from `createRequire`, which loads a module late and synchronously, or of esbuild's replacement
 * for a bundled package's `require`; esbuild reports neither as an import.
 */
const OWN_REQUIRE = /\b(?:__)?require\d*\("([^"./][^"]*)"\)/g

/** Packages that the bundle and its chunks import in any form. */
async function importedPackages(entry: string): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    write: false,
    metafile: true,
    logLevel: 'error',
  })
  const imports = Object.values(metafile.inputs).flatMap((input) => input.imports)
  const imported = imports.flatMap(({ external, path }) => (external === true ? path : []))
  const required = Object.keys(metafile.inputs).flatMap((file) =>
    Array.from(readFileSync(file, 'utf8').matchAll(OWN_REQUIRE), ([, path = '']) => path),
  )
  const packages = [...imported, ...required].filter((path) => !isBuiltin(path))
  return [...new Set(packages.map(packageName))].toSorted()
}

/** `@scope/name` or `name` of a specifier. */
function packageName(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}

/** Node's own search: the nearest `node_modules` above that has the package, inside `root`. */
function installedFolder(from: string, name: string, root: string): string | undefined {
  for (let at = from; ; at = dirname(at)) {
    const folder = join(at, 'node_modules', name)
    if (existsSync(join(folder, 'package.json'))) return folder
    if (at === root || dirname(at) === at) return undefined
  }
}
