import { readFileSync } from 'node:fs'
import { createRequire, registerHooks } from 'node:module'
import { extname, join } from 'node:path'
import type { Plugin } from 'esbuild'

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
        const names = exportedNames(load, path).filter(
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

/** What a package requires besides scripts is left out. */
function exportedNames(load: NodeJS.Require, file: string): readonly string[] {
  const hooks = registerHooks({
    load: (url, context, next) =>
      url.startsWith('file:') && !SCRIPT.test(url) && extname(url) !== ''
        ? { format: 'commonjs', source: '', shortCircuit: true }
        : next(url, context),
  })
  try {
    return Object.keys((load(file) as object | null) ?? {})
  } catch {
    return writtenNames(file)
  } finally {
    hooks.deregister()
  }
}

const EXPORTED = /\bexports\.([A-Za-z_$][\w$]*)\s*=(?!=)|\bdefineProperty\(exports,\s*["']([A-Za-z_$][\w$]*)["']/g
const PASSED_ON = /\bmodule\.exports\s*=\s*require\(["'](\.[^"']+)["']\)/g

/** For a package that needs a browser while it is loaded: the names that its text tells, with those of files it passes on. */
function writtenNames(file: string, seen = new Set<string>()): readonly string[] {
  if (seen.has(file)) return []
  seen.add(file)
  const text = readFileSync(file, 'utf8')
  const own = Array.from(text.matchAll(EXPORTED), ([, assigned, defined]) => assigned ?? defined ?? '')
  const others = Array.from(text.matchAll(PASSED_ON), ([, path = '']) => path).flatMap((path) => {
    try {
      return writtenNames(createRequire(file).resolve(path), seen)
    } catch {
      return []
    }
  })
  return [...new Set([...own, ...others])]
}
