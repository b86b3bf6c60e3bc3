import { existsSync } from 'node:fs'
import { basename, dirname, extname, join, resolve, sep } from 'node:path'
import type { OnResolveArgs, Plugin, PluginBuild, ResolveResult } from 'esbuild'
import { exactFiles } from './exact-file.ts'

/** Marks a plugin's own resolution, so that plugins do not call each other endlessly. */
const LOOK_UP = Symbol('look-up')

type Request = Pick<OnResolveArgs, 'path' | 'kind' | 'importer' | 'resolveDir'>
type Resolution = Promise<ResolveResult | undefined>

/** Whether a plugin requested this resolution: every plugin here leaves those to esbuild. */
export function isLookUp({ pluginData }: Pick<OnResolveArgs, 'pluginData'>): boolean {
  return pluginData === LOOK_UP
}

/** esbuild's own resolution of an import; `undefined` if it finds nothing. */
export function lookUp(build: PluginBuild, { path, kind, importer, resolveDir }: Request): Resolution {
  const start = async (): Resolution => {
    const found = await build.resolve(path, { kind, importer, resolveDir, pluginData: LOOK_UP })
    return found.errors.length > 0 ? undefined : found
  }
  const isOpen = RESOLVERS.get(build.initialOptions)?.some((filter) => filter.test(path)) ?? false
  const cached = isOpen ? undefined : CACHES.get(build.initialOptions)
  return cached === undefined ? start() : cached({ path, kind, resolveDir }, start)
}

/** By the options of a build, which all its plugins share. */
const CACHES = new WeakMap<object, (request: Omit<Request, 'importer'>, start: () => Resolution) => Resolution>()
const RESOLVERS = new WeakMap<object, RegExp[]>()

/** Notes that a plugin of the project resolves imports itself: its answers may differ from import to import. */
export function noteResolver({ initialOptions }: Pick<PluginBuild, 'initialOptions'>, { source, flags }: RegExp): void {
  const stateless = new RegExp(source, flags.replaceAll(/[gy]/g, ''))
  RESOLVERS.set(initialOptions, [...(RESOLVERS.get(initialOptions) ?? []), stateless])
}

/**
 * Resolutions that outlive a build. esbuild reads the folders around a file again for each one that a plugin requests, which
 * takes longer than all the rest of a rebuild. Holds one entry for each import of the sources, without those that found
 * nothing.
 */
export interface LookUpCache {
  /** Makes a build use them; all builds that do must resolve by the same options and plugins. */
  readonly plugin: Plugin
  /**
   * Drops what may lead to another file now.
   * @param changed absolute paths of files of which some are new or gone.
   */
  forget(changed: readonly string[]): void
  clear(): void
}

interface Entry {
  /** The path without its ending that a relative import names; absent for names of packages. */
  readonly stem?: string
  readonly found: Resolution
  /** `undefined` until it is known. */
  path?: string
}

export function createLookUpCache(): LookUpCache {
  const entries = new Map<string, Entry>()
  const scopes = new Map<string, string>()
  const state = { exact: exactFiles() }

  /** The nearest folder above that can give a package's name a meaning. */
  function scopeOf(folder: string): string {
    const known = scopes.get(folder)
    if (known !== undefined) return known
    const isScope = SCOPE_SIGNS.some((name) => existsSync(join(folder, name)))
    const scope = isScope || dirname(folder) === folder ? folder : scopeOf(dirname(folder))
    scopes.set(folder, scope)
    return scope
  }

  function store(key: string, target: string | undefined, start: () => Resolution): Resolution {
    const exact = target === undefined ? undefined : state.exact(target)
    const found = exact === undefined ? start() : Promise.resolve(exact)
    const entry: Entry = { found, ...(target === undefined ? {} : { stem: stemOf(target) }) }
    entries.set(key, entry)
    const drop = (): void => void (entries.get(key) === entry && entries.delete(key))
    entry.found.then((result) => {
      if (result?.namespace === 'file' && !result.external) entry.path = result.path
      else drop()
    }, drop)
    return entry.found
  }

  function clear(): void {
    entries.clear()
    scopes.clear()
    state.exact = exactFiles() // which remembers manifests
  }

  return {
    plugin: {
      name: 'look-up-cache',
      setup({ initialOptions }) {
        CACHES.set(initialOptions, ({ path, kind, resolveDir }, start) => {
          const target = RELATIVE.test(path) ? resolve(resolveDir, path) : undefined
          const isFolder = target !== undefined && FOLDER.test(path)
          const key = [kind, isFolder, target ?? `${scopeOf(resolveDir)} ${path}`].join(' ')
          const known = entries.get(key)
          if (known !== undefined && (known.path === undefined || existsSync(known.path))) return known.found
          return store(key, target, start)
        })
      },
    },
    forget(changed) {
      if (changed.some((file) => extname(file) === '' || CONFIGURES.has(basename(file)))) return clear()
      for (const [key, entry] of entries) if (changed.some((file) => concerns(entry, file))) entries.delete(key)
    },
    clear,
  }
}

const RELATIVE = /^\.{1,2}(?:\/|$)/
const FOLDER = /(?:^|\/)\.{0,2}$/
const SCOPE_SIGNS = ['package.json', 'node_modules']

/** Files that change how names are resolved below their folder. */
const CONFIGURES = new Set(['package.json', 'tsconfig.json', 'jsconfig.json'])

/** Whether a new or removed file can change a result: another ending, the index of a folder, a workspace's package. */
function concerns({ stem, path }: Entry, file: string): boolean {
  if (path === undefined) return true
  const isPackages = path.split(sep).includes('node_modules')
  if (stem === undefined) return !isPackages || path === file
  return stem === stemOf(file) || stemOf(path) === stemOf(file) || file.startsWith(stem + sep)
}

function stemOf(file: string): string {
  const name = basename(file)
  const end = name.indexOf('.', 1)
  return end === -1 ? file : file.slice(0, file.length - name.length + end)
}
