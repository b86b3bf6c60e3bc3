import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'

const NODE_MODULES = `${sep}node_modules${sep}`

/** Packages that must have one copy, in production mode regardless of the environment. */
const OF_REACT = new Set(['react', 'react-dom', 'scheduler'])

/** What matters here of a package.json. */
export interface PackageManifest {
  readonly name?: string
  readonly exports?: unknown
  readonly main?: unknown
  readonly sideEffects?: unknown
  readonly gypfile?: unknown
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

/** The packages around a project, read from their manifests, each once. */
export interface InstalledPackages {
  manifest(folder: string): PackageManifest
  /** Node's own search, with links resolved. */
  find(from: string, name: string): string | undefined
  /** Whether a package depends on React, directly or not. */
  usesReact(folder: string): boolean
  /** Whether the project's package.json lists it in `dependencies`. */
  isListed(name: string): boolean
  /** Whether an install without development dependencies has it. */
  isInstalled(folder: string): boolean
  /** Whether Node loads it in any case: it is a dependency without React, or one of its dependencies. */
  isLoaded(folder: string): boolean
  /** Whether its manifest mentions a native add-on. */
  isNative(folder: string): boolean
}

/** Dependencies by which add-ons are found or built. */
const ADD_ON_TOOLS =
  /^(?:bindings|node-addon-api|node-gyp-build|node-gyp-build-optional-packages|prebuild-install|@mapbox\/node-pre-gyp|nan)$/

/** Names of packages with an add-on for one platform. */
const OF_PLATFORM = /-(?:linux|darwin|win32|freebsd|android)-?/

/** @param root the project. */
export function installedPackages(root: string): InstalledPackages {
  const manifests = new Map<string, PackageManifest>()
  const found = new Map<string, string | undefined>()
  const react = new Map<string, boolean>()
  const closures: { installed?: ReadonlySet<string>; loaded?: ReadonlySet<string> } = {}

  function manifest(folder: string): PackageManifest {
    const known = manifests.get(folder)
    if (known !== undefined) return known
    const file = join(folder, 'package.json')
    const read: PackageManifest = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
    manifests.set(folder, read)
    return read
  }

  function find(from: string, name: string): string | undefined {
    const key = `${from} ${name}`
    if (!found.has(key)) found.set(key, search(from, name))
    return found.get(key)
  }

  function search(from: string, name: string): string | undefined {
    const folder = join(from, 'node_modules', name)
    if (existsSync(folder)) return realpathSync(folder)
    return dirname(from) === from ? undefined : find(dirname(from), name)
  }

  function usesReact(folder: string): boolean {
    const answer = react.get(folder)
    if (answer !== undefined) return answer
    react.set(folder, false) // ends cycles of dependencies
    const { name = '', dependencies, peerDependencies } = manifest(folder)
    const uses =
      OF_REACT.has(name) ||
      Object.keys({ ...dependencies, ...peerDependencies }).some((need) => {
        if (OF_REACT.has(need)) return true
        const needed = find(folder, need)
        return needed !== undefined && usesReact(needed)
      })
    react.set(folder, uses)
    return uses
  }

  function closure(follows: (folder: string) => boolean): ReadonlySet<string> {
    const { dependencies, optionalDependencies } = manifest(root)
    const reached = new Set<string>()
    const add = (from: string, names: object): void => {
      for (const name of Object.keys(names)) {
        const folder = find(from, name)
        if (folder !== undefined && follows(folder)) reached.add(folder)
      }
    }
    add(root, { ...dependencies, ...optionalDependencies })
    for (const folder of reached) {
      const { dependencies: own, optionalDependencies: optional, peerDependencies } = manifest(folder)
      add(folder, { ...own, ...optional, ...peerDependencies })
    }
    return reached
  }

  return {
    manifest,
    find,
    usesReact,
    isListed: (name) => Object.hasOwn(manifest(root).dependencies ?? {}, name),
    isInstalled: (folder) => (closures.installed ??= closure(() => true)).has(folder),
    isLoaded: (folder) => (closures.loaded ??= closure((one) => !usesReact(one))).has(folder),
    isNative(folder) {
      const { gypfile, dependencies = {}, optionalDependencies = {} } = manifest(folder)
      if (gypfile === true || existsSync(join(folder, 'binding.gyp'))) return true
      if (Object.keys(dependencies).some((name) => ADD_ON_TOOLS.test(name))) return true
      return Object.keys(optionalDependencies).some((name) => OF_PLATFORM.test(name))
    },
  }
}

/** `…/node_modules/name` or `…/node_modules/@scope/name` of a file in a package; `undefined` for other files. */
export function packageFolder(file: string): string | undefined {
  const at = file.lastIndexOf(NODE_MODULES)
  if (at === -1) return undefined
  const start = at + NODE_MODULES.length
  const [first = '', second = ''] = file.slice(start).split(sep)
  return file.slice(0, start) + (first.startsWith('@') ? join(first, second) : first)
}

/** Names of packages: neither paths, nor names in a manifest's `imports`, nor URLs and the build's own modules. */
export const BARE = /^(?![./#]|[a-z][\w+.-]+:)/i

/** `name` or `@scope/name` of a specifier. */
export function packageName(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}
