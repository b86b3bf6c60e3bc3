import { existsSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { basename, join, resolve } from 'node:path'
import { build, type BuildOptions as EsbuildOptions, type Metafile, type Plugin } from 'esbuild'
import { nodeOptions, type BundleContext } from '../../build/bundle-options.ts'
import { contentHash, shortHash } from '../../build/content-hash.ts'
import { DEFAULT_IMPORTS } from '../../build/resolve/default-imports.ts'
import { isLookUp, createLookUpCache, lookUp } from '../../build/resolve/look-up.ts'
import { isLinked, ONE_REACT, REACT_IMPORT, requireOneReact } from '../../build/resolve/one-react.ts'
import { formatsOf } from '../../build/resolve/module-formats.ts'
import { isOfRuntime, isPackageFile, OWN_RUNTIME, runtimeModule, type Runtime } from '../../build/runtime.ts'
import { displayPath } from '../../build/build-options.ts'
import type { Bundle, BundleCache, BundleFile } from './bundle-cache.ts'
import { commonJsEntries } from './commonjs-entries.ts'
import { OPEN_INSPECTOR } from '../process/inspector-port.ts'
import { CHECK_HOSTS } from '../process/child-hosts.ts'

/** Packages and the runtime for the development server's Node process: bundled once, and kept while the application changes. */
export interface ServerRuntime {
  readonly files: readonly BundleFile[]
  /** Of the bundle. */
  readonly inputs: Metafile['inputs']
  readonly hash: string
}

/** How the bundle of the application imports a file of the runtime's bundle; a generation links that folder beside its own. */
const FOLDER = '../runtime'

/** The global that the start script sets before it imports the main module. */
const START = 'globalThis.millraceDevelopment'

/** Name of the script that starts a generation. */
export const START_SCRIPT = 'start.js'

/**
 * Starts a generation of the application's server. What does not depend on the application is loaded before the generation
 * is known. Never outlives the development server.
 */
const START_TEXT = `import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
process.setSourceMapsEnabled(true)
process.once('disconnect', () => process.exit())
const told = new Promise((resolve) => process.once('message', resolve))
${CHECK_HOSTS}await import('./preload.js')
const folder = join(await told, 'server')
${OPEN_INSPECTOR}const load = (file) => import(pathToFileURL(join(folder, file)).href)
const [application, actions] = await Promise.all([load('application.js'), load('actions.js')])
${START} = { folder, application: application.default, actions: actions.default }
await import('./main.js')
`

/** Collects the files that an application imports from packages and from the runtime, and leaves them to their own bundle. */
interface RuntimeLinks {
  readonly plugin: Plugin
  /** Absolute paths of the files that the last build has imported. */
  readonly files: ReadonlySet<string>
}

/** @param context of the build; modules of the application are bundled even if they are inside of the runtime's folder. */
export function linkRuntime(context: BundleContext): RuntimeLinks {
  const files = new Set<string>()
  const plugin = linking('link-runtime', context.root, (file) => {
    if (!isRuntimes(context, file)) return undefined
    files.add(file)
    return `${FOLDER}/${entryName(context.root, file)}.js`
  })
  const { name, setup } = plugin
  return {
    files,
    plugin: {
      name,
      async setup(build) {
        build.onStart(() => files.clear())
        await setup(build)
      },
    },
  }
}

/** The same for modules of the application that are compiled one by one: they import each other as files beside themselves. */
export function linkApplication(context: BundleContext): Plugin {
  return linking('link-application', context.root, (file) => {
    if (isRuntimes(context, file)) return `${FOLDER}/${entryName(context.root, file)}.js`
    return SOURCE.test(file) ? `./${entryName(context.root, file)}.js` : undefined
  })
}

const SOURCE = /\.[cm]?[jt]sx?$/

function isRuntimes(context: BundleContext, file: string): boolean {
  return isPackageFile(file) || isOfRuntime(context, file)
}

/**
 * Imports of React lead to the project's, as `reactOfProject` does it for bundles.
 * @param linkOf how an import of a file is left in the output; `undefined` if the file becomes part of it.
 */
function linking(name: string, root: string, linkOf: (file: string) => string | undefined): Plugin {
  return {
    name,
    setup(build) {
      build.onResolve({ filter: /.*/ }, async (args) => {
        if (args.kind === 'entry-point' || isLookUp(args) || isBuiltin(args.path)) return undefined
        const isReact = REACT_IMPORT.test(args.path) && isLinked(root, args.resolveDir)
        const found = await lookUp(build, isReact ? { ...args, resolveDir: root } : args)
        if (found === undefined || found.namespace !== 'file' || found.external) return undefined
        const { path, namespace, suffix, sideEffects } = found
        const link = linkOf(path)
        return link === undefined
          ? { path, namespace, suffix, sideEffects }
          : { path: link, external: true, sideEffects }
      })
    },
  }
}

/** Options of esbuild for a bundle that leaves React to the runtime's. */
export function linkedOptions<Options extends EsbuildOptions>(options: Options): Options {
  return { ...options, plugins: (options.plugins ?? []).filter(({ name }) => name !== ONE_REACT) }
}

/** Readable, and unlike that of any other file. */
export function entryName(root: string, file: string): string {
  const key = displayPath(root, file)
  return `${basename(file).replace(/\W+/g, '-')}-${shortHash(key)}`
}

/**
 * Bundles the server of the runtime and the files that an application imports.
 * @param files absolute paths, from `linkRuntime`.
 * @param plugins for stylesheets, assets and packages that Node imports.
 * @param onWork called if the cache does not have the bundle.
 * @throws {BuildFault} for two copies of React.
 */
export async function bundleServerRuntime(
  context: BundleContext,
  files: readonly string[],
  plugins: readonly Plugin[],
  { bundles, onWork }: { readonly bundles: BundleCache; onWork(work: 'packages'): void },
): Promise<ServerRuntime> {
  const { root, app, basePath, runtime, defines, mode } = context
  const key = ['server', { app, basePath, runtime, defines, mode }, files]
  const { outputFiles, metafile } = await bundles.through(key, () => {
    onWork('packages')
    return buildServerRuntime(context, files, plugins)
  })
  const inputs = Object.fromEntries(Object.entries(metafile.inputs).filter(([key]) => !key.startsWith('cjs-entry:')))
  requireOneReact({ inputs })
  const start = Buffer.from(START_TEXT)
  return {
    files: [...outputFiles, { path: resolve(root, START_SCRIPT), contents: start, hash: '' }],
    inputs,
    hash: contentHash(...outputFiles.map(({ hash }) => hash)),
  }
}

async function buildServerRuntime(
  context: BundleContext,
  files: readonly string[],
  plugins: readonly Plugin[],
): Promise<Bundle> {
  const { root, runtime = OWN_RUNTIME } = context
  const formats = await formatsOf(root, files)
  const imported = files.map((file) => [
    entryName(root, file),
    formats.get(file) === 'cjs' ? `cjs-entry:${file}` : file,
  ])
  const { plugins: all = [], ...options } = nodeOptions(context, {}, [createLookUpCache().plugin, ...plugins])
  // A published runtime and packages have no modules of the project, which are all that this plugin is for.
  const needed = runtime.compiled ? all.filter(({ name }) => name !== DEFAULT_IMPORTS) : all
  return build({
    ...options,
    write: false,
    metafile: true,
    entryPoints: {
      main: runtimeModule(runtime, 'server/main.ts'),
      preload: 'millrace:preload',
      ...Object.fromEntries(imported),
    },
    outdir: join(root, 'dist/runtime'),
    define: { ...options.define, 'import.meta.dirname': `${START}.folder` },
    plugins: [startedApplication(runtime), commonJsEntries(root), ...needed],
  })
}

/** The runtime gets the application from the start script. The rest of its server is loaded before that. */
function startedApplication(runtime: Runtime): Plugin {
  const server = runtimeModule(runtime, 'server/app.ts')
  const texts: Readonly<Record<string, string>> = {
    'millrace:app': `export default ${START}.application`,
    'millrace:actions': `export default ${START}.actions`,
    'millrace:preload': existsSync(server) ? `import ${JSON.stringify(server)}` : '',
  }
  return {
    name: 'started-application',
    setup(build) {
      build.onResolve({ filter: /^millrace:(?:app|actions|preload)$/ }, ({ path }) => ({ path, namespace: 'started' }))
      build.onLoad({ filter: /.*/, namespace: 'started' }, ({ path }) => ({
        contents: texts[path] ?? '',
        resolveDir: runtime.folder,
      }))
    },
  }
}
