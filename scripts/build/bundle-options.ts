import { basename, dirname, join } from 'node:path'
import type { BuildOptions as EsbuildOptions, Plugin } from 'esbuild'
import { actionRegistry } from './sides/action-modules.ts'
import { RECORDER_SETTINGS } from '../../src/server/assets/manifest.ts'
import { aliasOf, basePathDefine, constantsOf } from './resolve/customization.ts'
import { defaultImports } from './resolve/default-imports.ts'
import { firstLoad } from './sides/first-load.ts'
import { withoutBrowserParts } from './sides/node-parts.ts'
import { reactOfProject } from './resolve/one-react.ts'
import { REACT_ENTRY, reactModule } from './resolve/react-module.ts'
import { requiredHttp } from './resolve/required-http.ts'
import { displayPath, TSCONFIG, type BuildOptions } from './build-options.ts'
import { CONDITIONS, OWN_RUNTIME, runtimeModule } from './runtime.ts'

/** Whether a bundle is for visitors or for developers. */
type BuildMode = 'production' | 'development'

/** Options that both bundles of one build share. */
export interface BundleContext extends Pick<BuildOptions, 'root' | 'app' | 'basePath' | 'runtime' | 'customization'> {
  readonly mode: BuildMode
  /** Public variables, by the expression that reads them. */
  readonly defines: Readonly<Record<string, string>>
}

/** Browsers of the last three years: modules, `??=`, private members, and lowered CSS nesting. */
const BROWSER_TARGET = ['es2022', 'chrome111', 'edge111', 'firefox115', 'safari16.4']

/** Name of the bundle that listens; `main.js` beside it starts it. */
export const SERVER_ENTRY = 'server'

/** Name of the bundle that writes pages as files. */
export const EXPORT_ENTRY = 'export'

/** Name of the bundle for other servers. */
export const HANDLER_ENTRY = 'handler'

/** Paths in outputs are relative to this folder, which never exists: the same outputs for every `--out`. */
function virtualOut(root: string, folder: string): string {
  return join(root, 'dist', folder)
}

function commonOptions({ root, mode, defines, basePath = '', customization }: BundleContext) {
  return {
    absWorkingDir: root,
    bundle: true,
    write: false,
    metafile: true,
    logLevel: 'silent',
    format: 'esm',
    splitting: true,
    sourcesContent: true,
    legalComments: 'none',
    charset: 'utf8',
    jsxDev: mode === 'development',
    tsconfigRaw: TSCONFIG,
    conditions: CONDITIONS,
    ...aliasOf(customization),
    define: {
      'process.env.NODE_ENV': JSON.stringify(mode),
      ...constantsOf(customization),
      ...basePathDefine(basePath),
      ...defines,
    },
  } as const satisfies EsbuildOptions
}

/** esbuild's options for the browser's scripts. */
export function browserOptions(context: BundleContext, plugins: readonly Plugin[]): EsbuildOptions {
  const isProduction = context.mode === 'production'
  const common = {
    ...commonOptions(context),
    outdir: virtualOut(context.root, 'public'),
    platform: 'browser',
    target: browserTargets(context),
    minify: isProduction,
  } satisfies EsbuildOptions
  return {
    ...common,
    entryPoints: { client: browserEntry(context), ...(isProduction ? { react: REACT_ENTRY } : {}) },
    sourcemap: 'external',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    // In development, React's files are in a separate bundle.
    plugins: isProduction
      ? [reactModule(context.root, common), firstLoad(context), ...plugins]
      : [reactOfProject(context.root, context.runtime), ...plugins],
  }
}

/**
 * esbuild's options for a script that a worker of the browser runs, with all its imports in one file.
 * @param runs `module` for a worker that is created with this type: only there a script may await at its top.
 */
export function workerOptions(context: BundleContext, file: string, runs: 'module' | 'classic' | undefined) {
  return {
    ...commonOptions(context),
    splitting: false,
    entryPoints: [file],
    outdir: virtualOut(context.root, 'public'),
    platform: 'browser',
    target: browserTargets(context),
    format: runs === 'module' ? 'esm' : 'iife',
    minify: context.mode === 'production',
    sourcemap: context.mode === 'production' ? false : 'inline',
  } as const satisfies EsbuildOptions
}

/**
 * esbuild's options for the browser's SDK: one file without shared chunks, so that it does not change with
 * applications.
 */
export function reportOptions({
  root,
  basePath,
  runtime = OWN_RUNTIME,
}: Pick<BundleContext, 'root' | 'basePath' | 'runtime'>): EsbuildOptions {
  return {
    ...commonOptions({ root, app: root, basePath, mode: 'production', defines: { __SENTRY_DEBUG__: 'false' } }),
    splitting: false,
    entryPoints: { reports: runtimeModule(runtime, 'client/reports/start-reports.ts') },
    outdir: virtualOut(root, 'public'),
    platform: 'browser',
    target: BROWSER_TARGET,
    minify: true,
    sourcemap: 'external',
    entryNames: '[name]-[hash]',
  }
}

/** esbuild's options for the recorder: an inline script with a free name, which the server replaces by the settings. */
export function recorderOptions({
  root,
  basePath,
  runtime = OWN_RUNTIME,
}: Pick<BundleContext, 'root' | 'basePath' | 'runtime'>): EsbuildOptions {
  const recorder = runtimeModule(runtime, 'client/reports/recorder.ts')
  return {
    ...commonOptions({ root, app: root, basePath, mode: 'production', defines: {} }),
    splitting: false,
    stdin: {
      contents: `import { startRecorder } from './${basename(recorder)}'; startRecorder(window, ${RECORDER_SETTINGS})`,
      resolveDir: dirname(recorder),
    },
    format: 'iife',
    platform: 'browser',
    target: BROWSER_TARGET,
    minify: true,
  }
}

function browserTargets({ customization }: BundleContext): string[] {
  return [...(customization?.targets ?? BROWSER_TARGET)]
}

/** The application's browser entry. */
export function browserEntry({ app }: Pick<BundleContext, 'app'>): string {
  return join(app, 'client.tsx')
}

/** esbuild's options for stylesheets; `plugins` resolve the entries. */
export function styleOptions(
  context: BundleContext,
  entries: readonly { readonly in: string; readonly out: string }[],
  plugins: readonly Plugin[],
): EsbuildOptions {
  return {
    ...commonOptions(context),
    splitting: false,
    entryPoints: [...entries],
    outdir: virtualOut(context.root, 'public'),
    target: browserTargets(context),
    minify: context.mode === 'production',
    sourcemap: context.mode === 'production' ? 'external' : 'inline',
    entryNames: '[name]-[hash]',
    plugins: [...plugins],
  }
}

/** esbuild's options for what runs in Node. */
export function nodeOptions(
  context: BundleContext,
  entries: Readonly<Record<string, string>>,
  plugins: readonly Plugin[],
): EsbuildOptions {
  const common = commonOptions(context)
  const isProduction = context.mode === 'production'
  return {
    ...common,
    // The error service's SDK patches nothing here, so the bundle does not need its patches.
    define: { ...common.define, __SENTRY_CHANNEL_INJECTION__: 'false' },
    entryPoints: { ...entries },
    outdir: virtualOut(context.root, 'server'),
    platform: 'node',
    // The text of all modules stays in memory as long as the process. Names stay whole: stacks are read without maps, too.
    minifyWhitespace: isProduction,
    minifySyntax: isProduction,
    // A single non-Latin-1 character makes V8 store two bytes per character of the file: a megabyte more memory.
    charset: 'ascii',
    target: 'node24',
    // Flat, so that code that looks for files beside itself finds them from any chunk.
    chunkNames: '[name]-[hash]',
    sourcemap: 'linked',
    // Bundled CommonJS packages still `require` Node's own modules.
    banner: {
      js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
    },
    plugins: [
      applicationAlias(context.app),
      actionRegistry(context.app),
      requiredHttp(),
      withoutBrowserParts(context.runtime),
      reactOfProject(context.root, context.runtime),
      ...plugins,
      defaultImports(context.root),
    ],
  }
}

/** The specifier by which the server's main module imports the built application. */
function applicationAlias(app: string): Plugin {
  return {
    name: 'application-alias',
    setup(build) {
      build.onResolve({ filter: /^millrace:app$/ }, () => ({ path: join(app, 'app.ts') }))
    },
  }
}

/** Whether this entry of a metafile only shapes the chunks and is not a file for browsers. */
export function shapesChunksOnly(entryPoint: string | undefined): boolean {
  return entryPoint?.endsWith(REACT_ENTRY) ?? false
}

/** The key of a source in a metafile. */
export function metafileKey(root: string, file: string): string {
  return displayPath(root, file)
}
