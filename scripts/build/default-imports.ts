import type { Plugin } from 'esbuild'
import { isLookUp, lookUp } from './look-up.ts'
import { isPackageFile } from './runtime.ts'

/**
 * Gives the project's modules the default export of a CommonJS package as bundlers, TypeScript and the browser's bundle see
 * it: `exports.default`, if the package says `__esModule`. In a project of `"type": "module"` esbuild would follow Node, and
 * give the whole of `module.exports`: a component would be an object on the server alone. esbuild does so only for modules
 * that it has resolved itself.
 */
export function defaultImports(): Plugin {
  return {
    name: 'default-imports',
    setup(build) {
      build.onResolve({ filter: /^\.{1,2}\// }, async (args) => {
        if (isLookUp(args) || args.namespace !== 'file' || isPackageFile(args.importer)) return undefined
        const found = await lookUp(build, args)
        if (found?.namespace !== 'file' || found.external || isPackageFile(found.path)) return undefined
        return { path: found.path, suffix: found.suffix, sideEffects: found.sideEffects }
      })
    },
  }
}
