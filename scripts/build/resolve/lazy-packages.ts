import type { Plugin } from 'esbuild'
import { displayPath, type BuildOptions } from '../build-options.ts'
import { isLookUp, lookUp } from './look-up.ts'
import { formatsOf } from './module-formats.ts'
import { isOfRuntime, isPackageFile } from '../runtime.ts'

/** Namespace of modules that stand for a CommonJS package in `import()`. */
export const LAZY_PACKAGE = 'lazy-package'

/**
 * Gives `import()` of a CommonJS package its names. Between chunks, esbuild passes on only the default export. A namespace
 * with a `then` is what that resolves to.
 */
export function lazyPackages(context: Pick<BuildOptions, 'root' | 'app' | 'runtime'>): Plugin {
  return {
    name: 'lazy-packages',
    setup(build) {
      build.onResolve({ filter: /^[^./#]/ }, async (args) => {
        if (args.kind !== 'dynamic-import' || isLookUp(args)) return undefined
        if (isPackageFile(args.importer) || isOfRuntime(context, args.importer)) return undefined
        const found = await lookUp(build, args)
        if (found?.namespace !== 'file' || found.external) return undefined
        if (!(await isCommonJs(context.root, found.path))) return undefined
        const { path, resolveDir } = args
        return {
          path: displayPath(context.root, found.path),
          namespace: LAZY_PACKAGE,
          pluginData: { path, resolveDir },
        }
      })
      build.onLoad({ filter: /.*/, namespace: LAZY_PACKAGE }, ({ pluginData: { path, resolveDir } }) => ({
        contents: `import * as all from ${JSON.stringify(path)}\nexport const then = (resolve) => resolve(all)\n`,
        loader: 'js',
        resolveDir,
      }))
    },
  }
}

async function isCommonJs(root: string, file: string): Promise<boolean> {
  if (!isPackageFile(file) || !/\.c?js$/.test(file)) return false
  return (await formatsOf(root, [file])).get(file) === 'cjs'
}
