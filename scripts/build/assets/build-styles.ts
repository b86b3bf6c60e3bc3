import { dirname, resolve } from 'node:path'
import { build, type Message, type Metafile, type OutputFile, type Plugin } from 'esbuild'
import { displayPath } from '../build-options.ts'
import { styleOptions, type BundleContext } from '../bundle-options.ts'
import { CSS_MODULE, type CssModules } from './css-modules.ts'
import { pluginsOf } from '../resolve/customization.ts'
import { STYLE_GROUP } from '../esbuild-messages.ts'
import type { StyleGroup } from './style-groups.ts'

/** The stylesheets of a build. */
export interface BuiltStyles {
  readonly outputFiles: readonly OutputFile[]
  /** Absent when there is no stylesheet. */
  readonly metafile?: Metafile
  /** Key of each group's stylesheet in the metafile's outputs. */
  readonly outputs: ReadonlyMap<StyleGroup, string>
  /**
   * CSS that browsers will not understand in plain stylesheets. Warnings about CSS modules are among those of the
   * scripts.
   */
  readonly warnings: readonly Message[]
}

const MODULE = 'css-module'

const NO_TAILWIND =
  'Nothing runs Tailwind on this stylesheet: npm install --save-dev tailwindcss @tailwindcss/postcss postcss, and write ' +
  "postcss.config.mjs: export default { plugins: { '@tailwindcss/postcss': {} } }"

/** Bundles each group of stylesheets into one file; the assets plugin resolves `url()`. */
export async function buildStyles(
  context: BundleContext,
  groups: readonly StyleGroup[],
  modules: CssModules,
  assets: Plugin,
): Promise<BuiltStyles> {
  if (groups.length === 0) return { outputFiles: [], outputs: new Map(), warnings: [] }
  const entries = groups.map(({ name }, index) => ({ in: `${STYLE_GROUP}:${index}`, out: name }))
  const {
    outputFiles = [],
    metafile,
    warnings,
  } = await build(
    styleOptions(context, entries, [
      assets,
      groupedStyles(context.root, groups, modules),
      ...pluginsOf(context.customization, 'browser'),
    ]),
  )
  const outputs = new Map<StyleGroup, string>()
  for (const [key, { entryPoint }] of Object.entries(metafile?.outputs ?? {})) {
    const group = groups[Number(entryPoint?.slice(entryPoint.lastIndexOf(':') + 1))]
    if (entryPoint !== undefined && group !== undefined) outputs.set(group, key)
  }
  const ofFiles = warnings.filter(({ location }) => location?.file.startsWith(`${MODULE}:`) !== true)
  return { outputFiles, outputs, warnings: ofFiles, ...(metafile === undefined ? {} : { metafile }) }
}

function groupedStyles(root: string, groups: readonly StyleGroup[], modules: CssModules): Plugin {
  return {
    name: 'grouped-styles',
    setup(build) {
      build.onResolve({ filter: /^style-group:/ }, ({ path }) => ({
        path: path.slice(STYLE_GROUP.length + 1),
        namespace: STYLE_GROUP,
      }))
      // Tailwind itself never leaves this import in a stylesheet.
      build.onResolve({ filter: /^tailwindcss(?:\/|$)/ }, ({ kind }) =>
        kind === 'import-rule' ? { errors: [{ text: NO_TAILWIND }] } : undefined,
      )
      build.onResolve({ filter: CSS_MODULE }, ({ path, resolveDir }) => ({
        path: displayPath(root, resolve(resolveDir, path)),
        namespace: MODULE,
      }))
      build.onLoad({ filter: /.*/, namespace: STYLE_GROUP }, ({ path }) => ({
        contents: (groups[Number(path)]?.files ?? [])
          .map((file) => `@import ${JSON.stringify(`./${file}`)};`)
          .join('\n'),
        loader: 'css',
        resolveDir: root,
      }))
      build.onLoad({ filter: /.*/, namespace: MODULE }, async ({ path }) => ({
        contents: (await modules.compile(resolve(root, path))).css,
        loader: 'css',
        resolveDir: dirname(resolve(root, path)),
      }))
    },
  }
}
