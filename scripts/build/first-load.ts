import { join, relative } from 'node:path'
import { build, type Plugin } from 'esbuild'
import type { BuildOptions } from './build-options.ts'
import { isLookUp, lookUp } from './look-up.ts'
import { statesRoutes } from './routes-file.ts'

const NAMESPACE = 'first-load'

/**
 * Keeps together what a page needs of the runtime before it is alive, and leaves out what it does not need.
 *
 * The bundler makes a chunk for each set of entries that can reach a module. So whoever imports one module of the first
 * load is led to a list of all of them, and they are one chunk. And the route table and the application's entry have lists
 * of their own of what `millrace` exports: otherwise the first load would bring along what pages take from there.
 */
export function firstLoad({ root, app }: Pick<BuildOptions, 'root' | 'app'>): Plugin {
  const entry = join(root, 'src/client/entry.tsx')
  const appEntry = join(app, 'client.tsx')
  const clientIndex = join(root, 'src/client/index.ts')
  return {
    name: 'first-load',
    async setup(building) {
      const files = await staticImports(root, entry)
      building.onResolve({ filter: /^\.{1,2}\/|^millrace(?:$|\/)/ }, async (args) => {
        if (isLookUp(args) || args.kind !== 'import-statement' || files.has(args.importer)) return undefined
        const found = await lookUp(building, args)
        if (found === undefined) return undefined
        if (files.has(found.path)) return { path: 'all', namespace: NAMESPACE }
        if (found.path !== clientIndex) return undefined
        const list = args.importer === appEntry ? '?entry' : statesRoutes(args.importer) ? '?routes' : undefined
        return list && { path: clientIndex, suffix: list, sideEffects: false }
      })
      building.onLoad({ filter: /.*/, namespace: NAMESPACE }, () => ({
        contents: [...files].map((file) => `export * from ${JSON.stringify(file)}`).join('\n'),
        resolveDir: root,
      }))
    },
  }
}

/** The project's own modules that run before this one does, itself included. */
async function staticImports(root: string, entry: string): Promise<ReadonlySet<string>> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    splitting: true,
    format: 'esm',
    packages: 'external',
    outdir: root,
    write: false,
    metafile: true,
    logLevel: 'silent',
  })
  const reached = new Set([relative(root, entry)])
  for (const key of reached) {
    for (const { path, kind, external } of metafile.inputs[key]?.imports ?? []) {
      if (kind === 'import-statement' && external !== true) reached.add(path)
    }
  }
  return new Set([...reached].map((key) => join(root, key)))
}
