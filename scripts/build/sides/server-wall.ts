import { isBuiltin } from 'node:module'
import { join, resolve, sep } from 'node:path'
import type { Metafile, OnResolveArgs, OnResolveResult, Plugin } from 'esbuild'
import { loadReferences, withoutReferences } from './action-references.ts'
import { ACTION_REFERENCES } from '../esbuild-messages.ts'
import { actionModule } from './action-modules.ts'
import { displayPath, type BuildOptions } from '../build-options.ts'
import { misplacedActions } from './misplaced-actions.ts'
import { isLookUp, lookUp } from '../resolve/look-up.ts'
import { literally } from '../path-filter.ts'
import { statesRoutes } from './routes-file.ts'
import { isPackageFile, OWN_RUNTIME, type Runtime } from '../runtime.ts'

/** Modules that only the server may load. */
const SERVER_MODULE = /\.server\.[cm]?[jt]sx?$/

const NAMESPACE = 'server-wall'
/** Replaces every server module that a route table names: the table refers to it, but it is empty. */
const INERT = 'inert'
const CULPRIT = 'culprit'

/** Keeps server code out of a browser bundle. */
export interface ServerWall {
  readonly plugin: Plugin
  /** One message for each forbidden import of the last build: the rule, then the chain, one file per line. */
  violations(): readonly string[]
}

interface Violation {
  readonly importer: string
  /** The forbidden import: a path in the project, or a module name. */
  readonly culprit: string
  readonly rule: string
}

/** Whether only the server may load this file, by its name. */
export function isServerModule(file: string): boolean {
  return SERVER_MODULE.test(file)
}

/**
 * @param runtime of the build.
 * @returns why this file must not be in a browser bundle; `undefined` if it may.
 */
export function serverOnly(runtime: Runtime, file: string): string | undefined {
  if (isServerModule(file)) return 'a *.server.* module'
  return file.startsWith(join(runtime.folder, 'server') + sep) ? 'a module of millrace/server' : undefined
}

/**
 * Creates the plugin for one browser build or, in development, for its rebuilds.
 * @param around adds to the build's inputs those of another build that leads to it.
 */
export function createServerWall(
  { root, app, runtime = OWN_RUNTIME }: Pick<BuildOptions, 'root' | 'app' | 'runtime'>,
  around: (inputs: Metafile['inputs']) => Metafile['inputs'] = (inputs) => inputs,
): ServerWall {
  const importers = new Map<string, Set<string>>()
  /** Forbidden files that an import reached by another name, with the rule. */
  const loaded = new Map<string, string>()
  const violations: Violation[] = []
  const imported = (file: string, by: string): void =>
    void importers.set(file, (importers.get(file) ?? new Set()).add(by))

  const plugin: Plugin = {
    name: 'server-wall',
    setup(build) {
      build.onStart(() => {
        importers.clear()
        loaded.clear()
        violations.length = 0
      })
      build.onEnd(({ metafile }) => {
        if (violations.length === 0 && loaded.size === 0) return
        for (const [key, { imports }] of Object.entries(around(metafile?.inputs ?? {}))) {
          const importer = resolve(root, withoutReferences(key))
          for (const { path } of imports) imported(resolve(root, withoutReferences(path)), importer)
        }
        for (const [file, rule] of loaded) {
          const [importer = file] = importers.get(file) ?? []
          violations.push({ importer, culprit: displayPath(root, file), rule })
        }
      })
      build.onResolve({ filter: LEADS_OUT }, async (args): Promise<OnResolveResult | undefined> => {
        if (isLookUp(args) || args.kind === 'entry-point' || staysInPackages(runtime, args)) return undefined
        const { path, kind } = args
        const importer = args.namespace === ACTION_REFERENCES ? join(root, args.importer) : args.importer

        function refuse(culprit: string, rule: string): OnResolveResult {
          violations.push({ importer, culprit, rule })
          return { path: CULPRIT, namespace: NAMESPACE }
        }

        const found = await lookUp(build, args)
        if (found === undefined) return isNodes(path) ? refuse(path, 'a Node builtin') : undefined
        // The package's manifest empties it for browsers, `"browser": { "crypto": false }`, which no result can tell esbuild.
        if (found.namespace === '' && !found.external) return undefined

        const rule = serverOnly(runtime, found.path)
        if (rule === undefined) {
          const { namespace, suffix, external, sideEffects } = found
          return { path: found.path, namespace, suffix, external, sideEffects }
        }
        // Only a table may name server modules.
        if (kind === 'dynamic-import' && statesRoutes(importer) && isServerModule(found.path)) {
          return { path: INERT, namespace: NAMESPACE }
        }
        if (actionModule(app, found.path) !== undefined) {
          return { path: displayPath(root, found.path), namespace: ACTION_REFERENCES }
        }
        return refuse(displayPath(root, found.path), rule)
      })
      build.onLoad({ filter: /.*/, namespace: ACTION_REFERENCES }, ({ path }) => loadReferences({ root, app }, path))
      build.onLoad({ filter: /.*/, namespace: NAMESPACE }, ({ path }) =>
        path === INERT ? { contents: 'export {}', loader: 'js' } : FORBIDDEN,
      )
      build.onLoad({ filter: serverFiles(runtime), namespace: 'file' }, ({ path }) => {
        const rule = serverOnly(runtime, path)
        if (rule === undefined) return undefined
        loaded.set(path, rule)
        return FORBIDDEN
      })
    },
  }

  return {
    plugin,
    violations() {
      const misplaced = new Set<string>()
      return violations.flatMap(({ importer, culprit, rule }) => {
        const chain = shortestChain(importers, importer).map((file) => displayPath(root, file))
        const wayOut = [culprit, ...chain.slice(-1)]
          .map((file) => misplacedActions({ root, app }, file))
          .find((line) => line !== undefined)
        if (wayOut !== undefined && misplaced.has(wayOut)) return [] // another import of the same file
        if (wayOut !== undefined) misplaced.add(wayOut)
        return [
          [
            `Server code would reach the browser: ${culprit} is ${rule}.`,
            ...[...chain, culprit].map((file, depth) => `  ${depth === 0 ? '' : '→ '}${file}`),
            ...(wayOut === undefined ? WAYS_OUT : ['Each file above imports the next.', wayOut]),
          ].join('\n'),
        ]
      })
    },
  }
}

const WAYS_OUT = [
  'Each file above imports the next. Move what the browser needs into a module of its own, use "import type" for',
  "types alone, or let a loader hand the data over. Actions are reached in files of the application's folder that are",
  'called actions.server.ts.',
] as const

/** CommonJS: any named import of it works, so that only the wall's message is shown. */
const FORBIDDEN = { contents: 'module.exports = {}', loader: 'js' } as const

/**
 * Names that can lead to server code: of packages, of builtins, of `*.server.*` modules. esbuild follows all others without a
 * question, which takes it a tenth of a millisecond each, and finished bundles have ten thousand. A server module that they reach
 * nevertheless, over a link or a manifest, is found when it is loaded.
 */
const LEADS_OUT = /^[^./]|\.server(?:\.|$)/

/** The same for imports of packages' files, which name other packages. */
const LEADS_OUT_OF_PACKAGE = /^millrace|^#|\.server(?:\.|$)/

function isNodes(name: string): boolean {
  return name.startsWith('node:') || isBuiltin(name)
}

/**
 * Whether an import cannot lead to server code, without asking esbuild where it leads: it reads whole folders for each
 * question, and a library of icons has thousands of files in one.
 */
function staysInPackages({ folder }: Runtime, { path, importer }: OnResolveArgs): boolean {
  if (!isPackageFile(importer) || importer.startsWith(folder + sep)) return false
  return !LEADS_OUT_OF_PACKAGE.test(path) && !isBuiltin(path)
}

/** Matches all files of which `serverOnly` may say something. */
function serverFiles({ folder }: Runtime): RegExp {
  const server = join(folder, 'server') + sep
  return new RegExp(`^${literally(server)}|${SERVER_MODULE.source}`)
}

/** From the entry to this file; searched breadth first from the file. */
function shortestChain(importers: ReadonlyMap<string, ReadonlySet<string>>, file: string): readonly string[] {
  const next = new Map<string, string | undefined>([[file, undefined]])
  let first = file
  for (const reached of next.keys()) {
    first = reached
    const above = importers.get(reached)
    if (above === undefined) break
    for (const importer of above) if (!next.has(importer)) next.set(importer, reached)
  }
  const chain: string[] = []
  for (let at: string | undefined = first; at !== undefined; at = next.get(at)) chain.push(at)
  return chain
}
