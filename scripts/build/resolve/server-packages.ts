import { existsSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, extname, join, relative, sep } from 'node:path'
import type { OnResolveArgs, OnResolveResult, Plugin } from 'esbuild'
import type { BuildOptions } from '../build-options.ts'
import { aliasFor } from './customization.ts'
import { BARE, installedPackages, packageFolder, packageName, type InstalledPackages } from './installed-packages.ts'
import type { LinkedFile } from './link-modules.ts'
import { isLookUp } from './look-up.ts'
import { createModuleLinker } from './module-linker.ts'
import { isInstrumented } from './outside-packages.ts'
import { packageStamp } from './package-stamp.ts'
import { reachedModule, requiredModule } from './required-package.ts'
import { isOfRuntime } from '../runtime.ts'

/** Namespace of modules that are what Node's `require` gives. */
export const REQUIRED_PACKAGE = 'required-package'

/** How an installed runtime imports its own dependencies: an application can resolve them only through this package. */
const RUN_TIME_PACKAGE = /^millrace\/internal\/packages\//

type Context = Pick<BuildOptions, 'root' | 'app' | 'runtime' | 'customization'>
type Import = Pick<OnResolveArgs, 'path' | 'kind' | 'importer' | 'resolveDir'>

/**
 * Leaves to Node what it loads as a bundler does: the packages of a production install (the `dependencies` of the project's
 * package.json, and theirs), and everywhere those that must not be bundled. React, everything built on it, and what Node
 * cannot load become part of the bundle.
 *
 * ES modules are imported. CommonJS is required by a module of one line, so that esbuild gives its names and its default
 * export to importers as it does in the browser's bundle.
 */
export function serverPackages(context: Context): Plugin {
  const linker = createModuleLinker()
  const state = { stamp: '', judge: createJudge(context, linker.link) }
  return {
    name: 'server-packages',
    setup(build) {
      build.onStart(() => {
        const stamp = packageStamp(context.root)
        if (stamp === state.stamp) return
        linker.rest()
        Object.assign(state, { stamp, judge: createJudge(context, linker.link) })
      })
      build.onEnd(() => linker.rest())
      build.onResolve({ filter: RUN_TIME_PACKAGE }, ({ path }) => ({ path, external: true }))
      build.onResolve({ filter: /.*/, namespace: REQUIRED_PACKAGE }, ({ path }) => ({ path, external: true }))
      build.onResolve({ filter: /^[^./#]/ }, (args) =>
        args.kind === 'entry-point' || isLookUp(args) || isBuiltin(args.path) ? undefined : state.judge(args),
      )
      build.onLoad({ filter: /.*/, namespace: REQUIRED_PACKAGE }, ({ pluginData }) => ({
        contents: String(pluginData),
        loader: 'js',
        resolveDir: context.root,
      }))
    },
  }
}

type Link = ReturnType<typeof createModuleLinker>['link']

/** Judges imports until packages are installed again. */
function createJudge(context: Context, link: Link): (args: Import) => Promise<OnResolveResult | undefined> {
  const { root, customization } = context
  const packages = installedPackages(root)
  const importers = createImporters(context, packages)
  const answers = new Map<string, Promise<LinkedFile | undefined>>()

  function linked(specifier: string, folder: string, kind: 'import' | 'require'): Promise<LinkedFile | undefined> {
    const key = [kind, folder, specifier].join(' ')
    const known = answers.get(key) ?? link({ specifier, folder, kind })
    answers.set(key, known)
    return known
  }

  return async (args) => {
    const aliased = aliasFor(args.path, customization?.alias)
    const specifier = aliased ?? args.path
    if (!BARE.test(specifier)) return undefined
    const from = aliased === undefined ? args.resolveDir : root
    const name = packageName(specifier)
    const folder = packages.find(from, name)
    if (folder === undefined) return undefined
    const origin = importers.originOf(args.importer)
    const mayBeOutside = !packages.usesReact(folder) || isInstrumented(name)
    if (packageFolder(folder) === folder && mayBeOutside) {
      if (origin === 'runtime') {
        const isRoots = packages.isListed(name) && packages.find(root, name) === folder
        if (isRoots) return { path: args.path, external: true }
      } else {
        const kind = args.kind === 'require-call' || args.kind === 'require-resolve' ? 'require' : 'import'
        const found = await linked(specifier, scopeOf(from), kind)
        const isOutside = found !== undefined && isLeftToNode(found, folder, name, packages)
        const left = isOutside ? await leave(found, { specifier, folder, kind, importer: args.importer }) : undefined
        if (left !== undefined) return left
      }
    }
    importers.note(folder, name, args.importer, origin)
    return undefined
  }

  interface Left {
    readonly specifier: string
    readonly folder: string
    readonly kind: 'import' | 'require'
    readonly importer: string
  }

  /** How the bundle reaches a file of a package. @returns `undefined` if it cannot. */
  async function leave(
    found: LinkedFile,
    { specifier, folder, kind, importer }: Left,
  ): Promise<OnResolveResult | undefined> {
    const name = packageName(specifier)
    const { exports, sideEffects } = packages.manifest(folder)
    const path = relative(folder, found.file).replaceAll(sep, '/')
    const rest = { ...(sideEffects === false && { sideEffects }), warnings: warningsFor(folder, name) }
    const exact = exports === undefined ? `${name}/${path}` : undefined
    const fromRoot = packages.find(root, name) === folder ? await linked(specifier, scopeOf(root), kind) : undefined
    if (fromRoot?.file === found.file) {
      const imported = found.onlyRequired ? exact : specifier
      if (found.format === 'module' && kind === 'import' && imported !== undefined) {
        return { path: imported, external: true, ...rest }
      }
      const required = found.required === found.file ? specifier : exact
      if (required !== undefined) return virtual(required, requiredModule(required), rest)
    }
    const chain = importers.chainTo(folder, name, importer)
    return chain && virtual([...chain, path].join('/'), reachedModule({ packages: chain, file: path }), rest)
  }

  function virtual(key: string, text: string, rest: OnResolveResult): OnResolveResult {
    // Parentheses, because it is not the path of a source.
    return { path: `require(${key})`, namespace: REQUIRED_PACKAGE, pluginData: text, ...rest }
  }

  function warningsFor(folder: string, name: string): { readonly text: string }[] {
    if (packages.isInstalled(folder)) return []
    return [
      {
        text:
          `${name} cannot be part of the server's bundle, and an install without development dependencies leaves it out: ` +
          `move it to "dependencies" of package.json.`,
      },
    ]
  }
}

function isLeftToNode(found: LinkedFile, folder: string, name: string, packages: InstalledPackages): boolean {
  if (found.fault !== undefined || packageFolder(found.file) !== folder) return false
  if (isInstrumented(name)) return true
  if (found.loadsReact || extname(found.file) === '.json') return false
  return packages.isLoaded(folder) || found.needsPlace || packages.isNative(folder)
}

const SCOPE_SIGNS = ['package.json', 'node_modules']

/** The nearest folder above that can give a package's name a meaning. */
function scopeOf(folder: string): string {
  const isScope = SCOPE_SIGNS.some((name) => existsSync(join(folder, name)))
  return isScope || dirname(folder) === folder ? folder : scopeOf(dirname(folder))
}

/** Who has brought the packages of a bundle. */
interface Importers {
  /** The runtime bundles its own packages, wherever they are listed, with what these import. */
  originOf(importer: string): 'runtime' | 'application'
  /** Notes that a package becomes part of the bundle. */
  note(folder: string, name: string, importer: string, origin: 'runtime' | 'application'): void
  /** Names of packages that lead from the project to one, where each finds the next. */
  chainTo(folder: string, name: string, importer: string): readonly string[] | undefined
}

function createImporters(context: Context, packages: InstalledPackages): Importers {
  const { root } = context
  const ofRuntime = new Set<string>()
  const chains = new Map<string, readonly string[]>()

  /** A package's folder, or that of a linked package of a workspace. */
  function ownerOf(importer: string): string | undefined {
    return packageFolder(importer) ?? [...chains.keys()].find((folder) => importer.startsWith(folder + sep))
  }

  function chainTo(folder: string, name: string, importer: string): readonly string[] | undefined {
    if (packages.find(root, name) === folder) return [name]
    const owner = ownerOf(importer)
    const before = owner === undefined ? undefined : chains.get(owner)
    return before && [...before, name]
  }

  return {
    originOf(importer) {
      const owner = packageFolder(importer)
      return isOfRuntime(context, importer) || (owner !== undefined && ofRuntime.has(owner)) ? 'runtime' : 'application'
    },
    note(folder, name, importer, origin) {
      if (origin === 'runtime') ofRuntime.add(folder)
      const chain = chains.get(folder) ?? chainTo(folder, name, importer)
      if (chain !== undefined) chains.set(folder, chain)
    },
    chainTo,
  }
}
