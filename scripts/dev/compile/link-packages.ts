import { resolve } from 'node:path'
import type { Plugin } from 'esbuild'
import { displayPath } from '../../build/build-options.ts'
import type { BundleContext } from '../../build/bundle-options.ts'
import { PACKAGE_NAMES } from '../../build/esbuild-messages.ts'
import { isLookUp, lookUp } from '../../build/resolve/look-up.ts'
import { isLinked, REACT_IMPORT } from '../../build/resolve/one-react.ts'
import { isPackageFile, OWN_RUNTIME } from '../../build/runtime.ts'
import { serverOnly } from '../../build/sides/server-wall.ts'

const SCRIPT = /\.[cm]?[jt]sx?$/

/**
 * Leaves the scripts of packages to their own bundle, so that each is bundled once.
 * @param names what files of packages export, by absolute path; imports of other files are not checked.
 */
export function linkPackages(
  { root, runtime = OWN_RUNTIME }: Pick<BundleContext, 'root' | 'runtime'>,
  names: ReadonlyMap<string, readonly string[] | undefined>,
): Plugin {
  return {
    name: 'link-packages',
    setup(build) {
      build.onResolve({ filter: /^[^./]/ }, async (args) => {
        if (args.kind === 'entry-point' || isLookUp(args) || args.path.startsWith('node:')) return undefined
        const isReact = REACT_IMPORT.test(args.path) && isLinked(root, args.resolveDir)
        const found = await lookUp(build, isReact ? { ...args, resolveDir: root } : args)
        if (found?.namespace !== 'file' || found.external || found.suffix !== '') return undefined
        // All others are for the server's wall, for stylesheets and assets, or of the project.
        if (!isPackageFile(found.path) || !SCRIPT.test(found.path)) return undefined
        if (serverOnly(runtime, found.path) !== undefined) return undefined
        const isChecked = names.get(found.path) !== undefined
        return isChecked
          ? { path: displayPath(root, found.path), namespace: PACKAGE_NAMES }
          : { path: found.path, external: true }
      })
      build.onLoad({ filter: /.*/, namespace: PACKAGE_NAMES }, ({ path }) => {
        const exported = names.get(resolve(root, path)) ?? []
        const clauses = exported.map((name) => `it as ${JSON.stringify(name)}`)
        return { contents: `const it = 0\nexport { ${clauses.join(', ')} }`, loader: 'js' }
      })
    },
  }
}
