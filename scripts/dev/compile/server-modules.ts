import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Metafile, type OutputFile, type Plugin } from 'esbuild'
import { CSS_FILE } from '../../build/assets/css-files.ts'
import { displayPath } from '../../build/build-options.ts'
import { nodeOptions } from '../../build/bundle-options.ts'
import { LAZY_PACKAGE } from '../../build/resolve/lazy-packages.ts'
import { isPackageFile } from '../../build/runtime.ts'
import { REQUIRED_PACKAGE } from '../../build/resolve/server-packages.ts'
import type { DevContexts } from './dev-contexts.ts'
import { entryName, linkApplication, linkedOptions } from './server-runtime.ts'

const SOURCE = /\.[cm]?[jt]sx?$/

/** Made by the build, and the same wherever it is part of: it keeps no state. */
const COPIED = new RegExp(`^(?:${CSS_FILE}|asset-url|action-modules|required|${REQUIRED_PACKAGE}|${LAZY_PACKAGE}):`)

/** The application's own modules for Node, each in a file of its own. */
export type ServerModules = ReadonlyMap<string, OutputFile>

/**
 * The files of an application that can be compiled one by one.
 * @param metafile of the server's bundle.
 * @returns absolute paths; `undefined` if a module is CommonJS, or one that a plugin has made: two modules would have a copy
 * each.
 */
export function separableModules(root: string, { inputs }: Metafile): readonly string[] | undefined {
  const keys = Object.keys(inputs).filter((key) => !COPIED.test(key))
  const isOdd = (key: string): boolean =>
    /^[a-z][a-z-]+:/.test(key) || (SOURCE.test(key) && inputs[key]?.format === 'cjs')
  return keys.some(isOdd) ? undefined : keys.filter((key) => SOURCE.test(key)).map((key) => resolve(root, key))
}

/**
 * Compiles modules of the application for Node, by the options of its bundle.
 * @param files absolute paths, from `separableModules`.
 * @throws esbuild's failure.
 */
export async function compileServerModules(
  { context, serverPlugins, serverLookUps }: DevContexts,
  files: readonly string[],
): Promise<ServerModules> {
  const { root } = context
  const options = linkedOptions(
    nodeOptions(context, {}, [serverLookUps.plugin, ...serverPlugins, linkApplication(context)]),
  )
  const { outputFiles } = await build({
    ...options,
    entryPoints: files.map((file) => ({ in: file, out: entryName(root, file) })),
    write: false,
    splitting: false,
    sourcemap: 'inline',
    sourcesContent: false,
    outdir: root,
    sourceRoot: `${pathToFileURL(root).href}/`,
  })
  const outputs = new Map(outputFiles.map((output) => [output.path, output]))
  return new Map(
    files.flatMap((file) => {
      const output = outputs.get(join(root, `${entryName(root, file)}.js`))
      return output === undefined ? [] : [[file, output]]
    }),
  )
}

/** The modules that a generation's start imports by name. */
export async function compileServerEntries(contexts: DevContexts): Promise<readonly OutputFile[]> {
  const { context, serverPlugins, serverLookUps } = contexts
  const { root, app } = context
  const application: Plugin = {
    name: 'application-entry',
    setup(building) {
      building.onResolve({ filter: /^millrace:application-entry$/ }, ({ path }) => ({ path, namespace: 'entry' }))
      building.onLoad({ filter: /.*/, namespace: 'entry' }, () => ({
        contents: `export { default } from './app.ts'`,
        resolveDir: app,
      }))
    },
  }
  const entries = { application: 'millrace:application-entry', actions: 'millrace:actions' }
  const plugins = [serverLookUps.plugin, application, ...serverPlugins, linkApplication(context)]
  const { outputFiles } = await build({
    ...linkedOptions(nodeOptions(context, entries, plugins)),
    write: false,
    splitting: false,
    sourcemap: false,
    outdir: root,
  })
  return outputFiles
}

/**
 * The modules with a copy of what scripts see of these stylesheets.
 * @param metafile of the server's bundle.
 * @returns absolute paths.
 */
export function importersOfStyles(root: string, { inputs }: Metafile, files: readonly string[]): readonly string[] {
  const styles = new Set(files.map((file) => `${CSS_FILE}:${displayPath(root, file)}`))
  const importers = Object.entries(inputs).filter(([, { imports }]) => imports.some(({ path }) => styles.has(path)))
  return importers.flatMap(([key]) => (SOURCE.test(key) ? [resolve(root, key)] : []))
}

/** Whether a file of the project is compiled as a module of its own. */
export function isOwnModule(file: string): boolean {
  return SOURCE.test(file) && !isPackageFile(file)
}
