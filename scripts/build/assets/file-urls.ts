import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname, resolve, sep } from 'node:path'
import type { Loader, OnLoadResult, OnResolveArgs, OnResolveResult, Plugin, PluginBuild } from 'esbuild'
import { ASSET_URL, decoded, isFile, type AssetFiles } from './asset-files.ts'
import { BuildFault } from '../build-fault.ts'
import { displayPath } from '../build-options.ts'
import type { BundleContext } from '../bundle-options.ts'
import { cssFiles } from './css-files.ts'
import type { CssModules } from './css-modules.ts'
import { pluginsOf } from '../resolve/customization.ts'
import { isEsbuildFailure } from '../esbuild-messages.ts'
import type { FileReference } from './file-references.ts'
import { createLookUpCache, lookUp } from '../resolve/look-up.ts'
import { createMadeFiles, type MadeFiles } from './made-files.ts'
import { OWN_SCRIPT } from '../path-filter.ts'
import { closedEnv } from '../sides/public-env.ts'
import {
  FILE_IMPORT,
  rewriteForPackages,
  rewriteForPages,
  rewriteForServer,
  URL_IMPORT,
  type Rewritten,
  type ServerPlace,
} from './rewrite-references.ts'
import { isPackageFile, OWN_RUNTIME } from '../runtime.ts'
import { isServerModule } from '../sides/server-wall.ts'

const SOURCE = /\.[cm]?[jt]sx?$/

/**
 * Makes the URL of a file for a page: its text is the path on both sides, so that hydration finds what the server has
 * rendered. A worker's is what Trusted Types ask for, where a document requires them: the build has made the script.
 */
const URL_MODULE = `export default (path, isScript) => {
  const url = new URL(path, 'http://localhost')
  const text = { value: path }
  Object.defineProperties(url, { href: text, toString: { value: () => path }, toJSON: { value: () => path } })
  Object.defineProperties(url, { origin: { value: '' }, protocol: { value: '' }, host: { value: '' }, hostname: { value: '' }, port: { value: '' } })
  const types = isScript && globalThis.trustedTypes
  return types ? types.createPolicy('millrace', { createScriptURL: (it) => it }).createScriptURL(path) : url
}
`

/** The plugins that let modules name files by `new URL('./file', import.meta.url)`, for all bundles of one build. */
export interface FileUrls extends Pick<MadeFiles, 'isMadeFrom' | 'clear'> {
  /** Resolves what rewritten modules import; before all that resolves other files. */
  readonly links: Plugin
  /** Rewrites what browsers get. */
  readonly browser: Plugin
  /** Rewrites what Node gets. */
  server(options: ServerUrlOptions): Plugin
  /** Rewrites one module of the project for browsers. */
  rewrite(file: string, text: string): Rewritten
  /** The browser's bundle is made again. Call it before bundles for Node are started that may wait for it. */
  begin(): void
  /** The browser's bundle has ended, or failed. */
  settle(): void
}

/** How server modules are rewritten. */
interface ServerUrlOptions extends ServerPlace {
  /** Whether to wait for the browser's bundle: it decides which side's a module without `.server.` in its name is. */
  readonly waits: boolean
}

/** What the files are made with. */
interface FileUrlParts {
  readonly assets: AssetFiles
  readonly modules: CssModules
}

export function createFileUrls(context: BundleContext, { assets, modules }: FileUrlParts): FileUrls {
  const { root, app, mode, defines, customization, runtime = OWN_RUNTIME } = context
  const readable = { 'process.env.NODE_ENV': JSON.stringify(mode), ...defines }
  const state = { ofPages: new Set<string>(), ended: Promise.withResolvers<void>() }
  const isOwn = (file: string): boolean =>
    !isPackageFile(file) && (!file.startsWith(runtime.folder + sep) || file.startsWith(app + sep))

  const rewrite = (file: string, text: string): Rewritten => rewriteForPages({ root, file, text })

  const rewriting = (inPage: (file: string) => void): Plugin => ({
    name: 'file-urls',
    setup(build) {
      build.onLoad({ filter: SOURCE, namespace: 'file' }, async ({ path }) => {
        const isPackages = isPackageFile(path)
        const text = isPackages || isOwn(path) ? textWithMeta(path) : undefined
        if (text === undefined) return undefined
        if (isPackages) return loaded(path, rewriteForPackages({ root, file: path, text }))
        inPage(path)
        return loaded(path, rewrite(path, text))
      })
    },
  })
  const pluginsFor = (within: readonly string[]): readonly Plugin[] => [
    createLookUpCache().plugin,
    linksPlugin(root, made, within),
    closedEnv(root, readable),
    ...pluginsOf(customization, 'browser'),
    rewriting(() => undefined),
    assets.plugin,
    cssFiles(root, modules),
  ]
  const made: MadeFiles = createMadeFiles(context, { assets, modules, pluginsFor })

  return {
    rewrite,
    isMadeFrom: made.isMadeFrom,
    clear: made.clear,
    begin() {
      state.ended.resolve()
      Object.assign(state, { ofPages: new Set(), ended: Promise.withResolvers<void>() })
    },
    settle: () => state.ended.resolve(),
    links: linksPlugin(root, made, []),
    browser: rewriting((file) => void state.ofPages.add(file)),
    server: ({ waits, copyOf }) => ({
      name: 'file-urls-on-server',
      setup(build) {
        build.onLoad({ filter: OWN_SCRIPT, namespace: 'file' }, async ({ path }) => {
          const text = isOwn(path) ? textWithMeta(path) : undefined
          if (text === undefined) return undefined
          if (waits && !isServerModule(path)) await state.ended.promise
          if (!isServerModule(path) && state.ofPages.has(path)) return loaded(path, rewrite(path, text))
          return loaded(path, await rewriteForServer({ root, file: path, text }, { copyOf }))
        })
      },
    }),
  }
}

/** @returns `undefined` for most modules, whose bytes are not even decoded: packages have thousands. */
function textWithMeta(file: string): string | undefined {
  const bytes = readFileSync(file) // a tenth of what a promise costs, and esbuild reads beside it
  return bytes.includes('import.meta') ? bytes.toString('utf8') : undefined
}

function loaded(file: string, { contents, errors }: Rewritten): OnLoadResult | undefined {
  if (errors.length > 0) return { errors: [...errors] }
  if (contents === undefined) return undefined
  return { contents, loader: extname(file).replace(/^\.[cm]?/, '') as Loader }
}

/** @param within the scripts around this bundle. */
function linksPlugin(root: string, made: MadeFiles, within: readonly string[]): Plugin {
  return {
    name: 'file-links',
    setup(build) {
      build.onResolve({ filter: /^millrace-file:/ }, async (args): Promise<OnResolveResult> => {
        if (args.path === URL_IMPORT) return { path: URL_IMPORT, namespace: ASSET_URL, pluginData: URL_IMPORT }
        const [, kind = '', name = ''] = /^([a-z]+):(.*)$/s.exec(args.path.slice(FILE_IMPORT.length)) ?? []
        const file = await locate(build, args, name)
        if (file === undefined) {
          return {
            errors: [
              {
                text: `Could not resolve "${name}" of new URL(…, import.meta.url): it is neither a file beside the module nor one of a package.`,
                location: await placeOf(root, args.importer, name),
              },
            ],
          }
        }
        try {
          const url = await made.urlOf(file, kind === 'file' ? undefined : (kind as FileReference['runs']), within)
          return { path: url, namespace: ASSET_URL, watchFiles: [file] }
        } catch (error) {
          if (error instanceof BuildFault) return { errors: [{ text: error.message }] }
          if (!isEsbuildFailure(error)) throw error
          return { errors: error.errors.map((message) => ({ ...message, pluginName: '' })) }
        }
      })
      build.onLoad({ filter: /^millrace-file:url$/, namespace: ASSET_URL }, () => ({
        contents: URL_MODULE,
        loader: 'js',
      }))
    },
  }
}

async function locate(build: PluginBuild, args: OnResolveArgs, name: string): Promise<string | undefined> {
  const [beside] = [name, decoded(name)].map((one) => resolve(args.resolveDir, one)).filter(isFile)
  if (beside !== undefined || name.startsWith('.')) return beside
  const found = await lookUp(build, { ...args, path: name, kind: 'import-statement' })
  return found?.namespace === 'file' && isFile(found.path) ? found.path : undefined
}

async function placeOf(root: string, importer: string, name: string) {
  const lines = (await readFile(importer, 'utf8').catch(() => '')).split('\n')
  const line = Math.max(
    lines.findIndex((one) => one.includes(name)),
    0,
  )
  const lineText = lines[line] ?? ''
  return { file: displayPath(root, importer), line: line + 1, column: Math.max(lineText.indexOf(name), 0), lineText }
}
