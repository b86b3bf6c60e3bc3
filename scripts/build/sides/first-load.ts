import { readFile } from 'node:fs/promises'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { displayPath, type BuildOptions } from '../build-options.ts'
import { isLookUp, lookUp } from '../resolve/look-up.ts'
import { literally } from '../path-filter.ts'
import { statesRoutes } from './routes-file.ts'
import { CONDITIONS, OWN_RUNTIME, runtimeModule } from '../runtime.ts'

const NAMESPACE = 'first-load'

/**
 * Keeps together the parts of the runtime that a page needs before hydration, and leaves out those that it does not
 * need.
 *
 * The bundler makes a chunk for each set of entries that can reach a module. So an import of one module of the first
 * load leads to a list of all of them, and they become one chunk. The route table and the application's entry have
 * their own lists of the exports of `millrace`: otherwise the first load would contain the exports that only pages use.
 */
export function firstLoad({
  root,
  app,
  runtime = OWN_RUNTIME,
}: Pick<BuildOptions, 'root' | 'app' | 'runtime'>): Plugin {
  const entry = runtimeModule(runtime, 'client/entry.tsx')
  const appEntry = join(app, 'client.tsx')
  const clientIndex = runtimeModule(runtime, 'client/index.ts')
  return {
    name: 'first-load',
    async setup(building) {
      const files = await staticImports(root, entry)
      const names = new Set([...files, clientIndex].map((file) => literally(basename(file))))
      const filter = new RegExp(`^\\.{1,2}/(?:.*/)?(?:${[...names].join('|')})$|^millrace(?:$|/)`)
      building.onResolve({ filter }, async (args) => {
        const { path, kind, importer, namespace, resolveDir } = args
        if (isLookUp(args) || kind !== 'import-statement' || files.has(importer)) return undefined
        const isElsewhere = namespace === 'file' && !importer.startsWith(runtime.folder + sep)
        if (path.startsWith('.') && isElsewhere) return undefined
        // The runtime's own modules name files exactly.
        const found = path.startsWith('.') ? { path: resolve(resolveDir, path) } : await lookUp(building, args)
        if (found === undefined) return undefined
        if (files.has(found.path)) return { path: 'all', namespace: NAMESPACE }
        if (found.path !== clientIndex) return undefined
        if (statesRoutes(args.importer)) return { path: clientIndex, suffix: '?routes', sideEffects: false }
        return args.importer === appEntry && takesHydrateAlone(await readFile(appEntry, 'utf8'))
          ? { path: 'hydrate', namespace: NAMESPACE, sideEffects: false }
          : undefined
      })
      building.onLoad({ filter: /^hydrate$/, namespace: NAMESPACE }, () => ({
        contents: `export { hydrate } from './${basename(entry)}'`,
        resolveDir: dirname(entry),
      }))
      building.onLoad({ filter: /^all$/, namespace: NAMESPACE }, () => ({
        contents: [...files].map((file) => `export * from ${JSON.stringify(file)}`).join('\n'),
        resolveDir: root,
      }))
    },
  }
}

const HYDRATE_ALONE = /^import (?:type \{[^}]*\}|\{(?:\s*(?:hydrate|type \w+),?)+\s*\}) from ['"]millrace['"]/gm

/** Whether the application's entry imports only `hydrate` and types from `millrace`. */
function takesHydrateAlone(text: string): boolean {
  return !/['"]millrace['"]/.test(text.replace(HYDRATE_ALONE, ''))
}

/** The runtime's own modules that run before this one, including itself. */
async function staticImports(root: string, entry: string): Promise<ReadonlySet<string>> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    splitting: true,
    format: 'esm',
    packages: 'external',
    conditions: CONDITIONS,
    outdir: root,
    write: false,
    metafile: true,
    logLevel: 'silent',
  })
  const reached = new Set([displayPath(root, entry)])
  for (const key of reached) {
    for (const { path, kind, external } of metafile.inputs[key]?.imports ?? []) {
      if (kind === 'import-statement' && external !== true) reached.add(path)
    }
  }
  return new Set([...reached].map((key) => join(root, key)))
}
