import { createRequire, registerHooks } from 'node:module'
import { extname, join, resolve } from 'node:path'
import { build, type Plugin } from 'esbuild'

/** Module formats of files, as esbuild tells them from their text. */
export async function formatsOf(root: string, files: readonly string[]): Promise<ReadonlyMap<string, 'cjs' | 'esm'>> {
  if (files.length === 0) return new Map()
  const { metafile } = await build({
    entryPoints: [...files],
    absWorkingDir: root,
    bundle: false,
    write: false,
    metafile: true,
    logLevel: 'silent',
    outdir: join(root, 'dist/formats'),
  })
  return new Map(Object.entries(metafile.inputs).map(([key, { format }]) => [resolve(root, key), format ?? 'cjs']))
}

/**
 * Entries `cjs-entry:<file>` of a bundle of ES modules: a CommonJS module has no static named exports; evaluating it finds
 * them.
 */
export function commonJsEntries(root: string): Plugin {
  const load = createRequire(join(root, 'package.json'))
  return {
    name: 'commonjs-entries',
    setup(build) {
      build.onResolve({ filter: /^cjs-entry:/ }, ({ path }) => ({
        path: path.slice('cjs-entry:'.length),
        namespace: 'cjs-entry',
      }))
      build.onLoad({ filter: /.*/, namespace: 'cjs-entry' }, ({ path }) => {
        const names = exportedNames(() => load(path)).filter(
          (name) => /^[A-Za-z_$][\w$]*$/.test(name) && name !== 'default' && name !== '__esModule',
        )
        // A local name for each: an export may be a reserved word, such as `static` of Express.
        const locals = names.map((name, at) => `${name}: export${at}`)
        const exported = names.map((name, at) => `export${at} as ${name}`)
        return {
          // The default is what modules of the project get in a production build: `exports.default` with `__esModule`.
          contents: [
            `import * as all from ${JSON.stringify(path)}`,
            'export default all.default',
            `const { ${locals.join(', ')} } = all`,
            `export { ${exported.join(', ')} }`,
          ].join('\n'),
          resolveDir: root,
        }
      })
    },
  }
}

const SCRIPT = /\.(?:[cm]?js|json|node)$/

/** A package that cannot be loaded here keeps its default export only. What it requires besides scripts is left out. */
function exportedNames(load: () => unknown): readonly string[] {
  const hooks = registerHooks({
    load: (url, context, next) =>
      url.startsWith('file:') && !SCRIPT.test(url) && extname(url) !== ''
        ? { format: 'commonjs', source: '', shortCircuit: true }
        : next(url, context),
  })
  try {
    return Object.keys(load() ?? {})
  } catch {
    return []
  } finally {
    hooks.deregister()
  }
}
