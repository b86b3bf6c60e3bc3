import { isBuiltin } from 'node:module'
import { resolve } from 'node:path'
import type { OnLoadResult, OnResolveArgs, Plugin } from 'esbuild'
import { displayPath } from '../build-options.ts'
import { CSS_MODULE, inSource, type CssModules } from './css-modules.ts'
import { isEsbuildFailure } from '../esbuild-messages.ts'
import { BARE, installedPackages, packageName, type PackageManifest } from '../resolve/installed-packages.ts'
import { isLookUp, lookUp } from '../resolve/look-up.ts'

/** Namespace of stylesheets in a script bundle's metafile: `css-file:<path in the project>`. */
export const CSS_FILE = 'css-file'

/** Stylesheets, those included that a plugin of the project makes CSS of. */
export const STYLE = /\.(?:css|scss|sass|less|styl|pcss)$/

const NAMES_STYLE = /\.(?:css|scss|sass|less|styl|pcss)"/

/**
 * Stylesheets as scripts see them: a module's class names without its rules. `buildStyles` bundles the rules, following
 * the imports that this plugin leaves in the metafile.
 */
export function cssFiles(root: string, modules: CssModules): Plugin {
  return {
    name: 'css-files',
    setup(build) {
      const state = { namesStyle: packagesWithStyles(root) }
      build.onStart(() => void (state.namesStyle = packagesWithStyles(root)))
      build.onResolve({ filter: /^[^./]|[.](?:css|scss|sass|less|styl|pcss)$/ }, async (args) => {
        if (isLookUp(args) || args.kind === 'entry-point') return undefined
        if (!STYLE.test(args.path) && !state.namesStyle(args)) return undefined
        const found = await lookUp(build, args)
        if (found?.namespace !== 'file' || !STYLE.test(found.path)) return undefined
        return { path: displayPath(root, found.path), namespace: CSS_FILE }
      })
      build.onLoad({ filter: /.*/, namespace: CSS_FILE }, ({ path }): Promise<OnLoadResult> | OnLoadResult => {
        const file = resolve(root, path)
        if (!CSS_MODULE.test(file)) return { contents: '', loader: 'js', watchFiles: [file] }
        return describeModule(root, file, modules)
      })
    },
  }
}

/** Tells whether a name without an ending can lead to a stylesheet: by what the package's manifest names. */
function packagesWithStyles(root: string): (args: Pick<OnResolveArgs, 'path' | 'resolveDir'>) => boolean {
  const packages = installedPackages(root)
  const answers = new Map<string, boolean>()
  return ({ path, resolveDir }) => {
    if (isBuiltin(path) || !BARE.test(path)) return false
    const folder = packages.find(resolveDir, packageName(path))
    if (folder === undefined) return false
    const known = answers.get(folder) ?? namesStyle(packages.manifest(folder))
    answers.set(folder, known)
    return known
  }
}

function namesStyle({ exports, main }: PackageManifest): boolean {
  return NAMES_STYLE.test(JSON.stringify([exports, main]))
}

async function describeModule(root: string, file: string, modules: CssModules): Promise<OnLoadResult> {
  try {
    const { names, composed, warnings } = await modules.compile(file)
    // Relative, because the text ends in a source map, which must not contain the project's location.
    const imports = composed.map((other) => `import ${JSON.stringify(`./${displayPath(root, other)}`)}\n`)
    return {
      contents: `${imports.join('')}export default ${JSON.stringify(names)}`,
      loader: 'js',
      resolveDir: root,
      warnings: [...warnings],
      watchFiles: [file],
    }
  } catch (error) {
    if (!isEsbuildFailure(error)) throw error
    // The notes are about imports that nobody has written.
    return { errors: error.errors.map((message) => ({ ...inSource(message, displayPath(root, file)), notes: [] })) }
  }
}
