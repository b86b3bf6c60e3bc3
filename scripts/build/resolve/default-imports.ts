import { isBuiltin } from 'node:module'
import { isAbsolute } from 'node:path'
import type { OnResolveArgs, Plugin } from 'esbuild'
import { aliasFor } from './customization.ts'
import { BARE, installedPackages, packageFolder, packageName } from './installed-packages.ts'
import { isLookUp, lookUp } from './look-up.ts'
import { isPackageFile } from '../runtime.ts'

/** Name of the plugin. */
export const DEFAULT_IMPORTS = 'default-imports'

/**
 * Gives the project's modules the default export of a CommonJS package as bundlers, TypeScript and the browser's bundle see
 * it: `exports.default`, if the package says `__esModule`. In a project of `"type": "module"` esbuild would follow Node, and
 * give the whole of `module.exports`: a component would be an object on the server alone. esbuild does so only for modules
 * that it has resolved itself.
 * @param root the project.
 */
export function defaultImports(root: string): Plugin {
  return {
    name: DEFAULT_IMPORTS,
    setup(build) {
      const { alias } = build.initialOptions
      const state = { packages: installedPackages(root) }
      build.onStart(() => void (state.packages = installedPackages(root)))

      /** Whether a name may lead to a module of the project or of its workspace. */
      function mayBeOwn({ path, resolveDir }: OnResolveArgs): boolean {
        if (/^(?:#|\.{1,2}(?:\/|$))/.test(path) || aliasFor(path, alias) !== undefined) return true
        const folder = BARE.test(path) ? state.packages.find(resolveDir, packageName(path)) : undefined
        return folder !== undefined && packageFolder(folder) === undefined
      }

      build.onResolve({ filter: /.*/ }, async (args) => {
        if (isLookUp(args) || isPackageFile(args.importer)) return undefined
        if (args.kind === 'entry-point') {
          return isAbsolute(args.path) && !isPackageFile(args.path) ? { path: args.path } : undefined
        }
        if (isBuiltin(args.path) || !mayBeOwn(args)) return undefined
        const found = await lookUp(build, args)
        if (found?.namespace !== 'file' || found.external || isPackageFile(found.path)) return undefined
        return { path: found.path, suffix: found.suffix, sideEffects: found.sideEffects }
      })
    },
  }
}
