import { resolve } from 'node:path'
import { referencesKey } from '../../build/sides/action-references.ts'
import { browserEntry, metafileKey } from '../../build/bundle-options.ts'
import { displayPath, PUBLIC_PATH } from '../../build/build-options.ts'
import { buildStyles } from '../../build/assets/build-styles.ts'
import { CSS_FILE, cssFiles } from '../../build/assets/css-files.ts'
import { aliasOf, basePathDefine, constantsOf, pluginsOf } from '../../build/resolve/customization.ts'
import { pluginClaims, type PluginClaims } from '../../build/resolve/plugin-claims.ts'
import { isPackageFile } from '../../build/runtime.ts'
import type { DevGeneration } from './dev-build.ts'
import { transformModule, type BrowserModule } from './module-transform.ts'
import { createModuleUrls, modulePath, type ModuleUrls } from './module-urls.ts'
import type { VendorBundle } from './vendor-bundle.ts'

/** A file for the browser. */
export interface ServedFile {
  readonly type: string
  readonly contents: string | Uint8Array
  /** Whether the file of this URL never changes. */
  readonly immutable?: boolean
}

/** Serves the project's own modules one by one, compiled on demand. */
export interface ModuleServer {
  readonly urls: ModuleUrls
  /** The file at a URL path; `undefined` if there is none. Throws the compiler's errors. */
  load(path: string): Promise<ServedFile | undefined>
  /** Switches to another state of the sources. */
  use(generation: DevGeneration): void
  /** Packages to serve before the first build, including the development server's own part. */
  useVendors(vendors: VendorBundle): void
  /** Compiles a module, or returns the cached result. */
  compile(key: string): Promise<BrowserModule>
  /** Drops the compiled form of these modules: they have changed, or URLs in them have. */
  forget(keys: readonly string[]): void
  forgetAll(): void
  /** The form of a module that browsers got last; `undefined` if no browser has loaded it. */
  served(key: string): BrowserModule | undefined
}

/** The module that a document loads: the development server's own part, then the application. */
export const DEV_ENTRY = `${PUBLIC_PATH}dev-entry.js`

const STYLES = 'styles/'
const SCRIPT_TYPE = 'text/javascript; charset=utf-8'

const TYPES: Readonly<Record<string, string>> = {
  js: SCRIPT_TYPE,
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  ico: 'image/x-icon',
  woff: 'font/woff',
  woff2: 'font/woff2',
  pdf: 'application/pdf',
  wasm: 'application/wasm',
  json: 'application/json',
  html: 'text/html; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
}

/** URL path of a single stylesheet; `file` is its path in the project. Browsers tell styles by the ending `.css`. */
export function stylePath(file: string): string {
  return modulePath(STYLES + file) + (file.endsWith('.css') ? '' : '.css')
}

/**
 * @param root the project.
 * @param basePath the application's.
 */
export function createModuleServer(root: string, basePath = ''): ModuleServer {
  const urls = createModuleUrls(basePath)
  const compiled = new Map<string, Promise<BrowserModule>>()
  const served = new Map<string, BrowserModule>()
  const state: {
    generation?: DevGeneration
    vendors?: VendorBundle
    /** Which modules the project's own plugins load. */
    claims?: Promise<PluginClaims>
  } = {}

  function current(): DevGeneration {
    if (state.generation === undefined) throw new Error('Nothing has been built yet.')
    return state.generation
  }

  function vendorUrl(vendors: VendorBundle, file: string): string | undefined {
    const path = vendors.urlOf(file)
    return path === undefined ? undefined : urls.publicPath(path)
  }

  function compile(key: string): Promise<BrowserModule> {
    const known = compiled.get(key)
    if (known !== undefined) return known
    const { context, vendors, assets, fileUrls, modules, lookUps } = current()
    const own = pluginsOf(context.customization, 'browser')
    state.claims ??= pluginClaims(own)
    const fresh = state.claims.then(({ loads }) =>
      transformModule(
        {
          root,
          app: context.app,
          ...(context.runtime === undefined ? {} : { runtime: context.runtime }),
          defines: {
            'process.env.NODE_ENV': '"development"',
            ...constantsOf(context.customization),
            ...basePathDefine(basePath),
            ...context.defines,
          },
          aliases: aliasOf(context.customization),
          isClaimed: loads,
          rewrite: fileUrls.rewrite,
          plugins: [lookUps.plugin, fileUrls.links, ...own, assets.plugin, cssFiles(root, modules)],
          urlOf: (file) => vendorUrl(vendors, file) ?? urls.urlOf(displayPath(root, file)),
        },
        key,
      ),
    )
    compiled.set(key, fresh)
    return fresh
  }

  async function loadModule(key: string): Promise<string | undefined> {
    // Only modules of the browser's bundle: neither server modules nor anything else on this disk.
    const { inputs } = current().browser
    const isThere = Object.hasOwn(inputs, key) || Object.hasOwn(inputs, referencesKey(key))
    if (!isThere || isPackageFile(resolve(root, key))) return undefined
    const module = await compile(key)
    served.set(key, module)
    return module.code
  }

  return {
    urls,
    compile,
    served: (key) => served.get(key),
    use(generation) {
      const { vendors } = generation
      const { defines } = generation.context
      if (vendors !== state.vendors || defines !== state.generation?.context.defines) compiled.clear()
      Object.assign(state, { generation, vendors })
    },
    useVendors(vendors) {
      state.vendors ??= vendors
    },
    forget(keys) {
      for (const key of keys) compiled.delete(key)
    },
    forgetAll: () => compiled.clear(),
    async load(path) {
      const name = urls.keyOf(path)
      if (name === undefined) return undefined
      const vendor = state.vendors?.files.get(path)
      if (vendor !== undefined) return { type: typeOf(name), contents: vendor, immutable: true }
      if (state.generation === undefined) return undefined
      if (path === DEV_ENTRY) return typed('.js', entryCode(urls, current()))
      if (name.startsWith(STYLES)) return typed('.css', await loadStyle(state.generation, name.slice(STYLES.length)))
      return typed(name, state.generation.assets.emitted.get(name)) ?? typed('.js', await loadModule(name))
    },
  }
}

/**
 * The development server's part is first: React looks for it during loading. It runs also where a module of the application
 * cannot be loaded, and loads the page again when it can.
 */
function entryCode(urls: ModuleUrls, { context, vendors }: DevGeneration): string {
  const entry = urls.urlOf(metafileKey(context.root, browserEntry(context)))
  return `import ${JSON.stringify(urls.publicPath(vendors.devClient))}\nawait import(${JSON.stringify(entry)})\n`
}

async function loadStyle(generation: DevGeneration, name: string): Promise<string | undefined> {
  const { context, modules, assets, browser } = generation
  const isKnown = (name: string): boolean => Object.hasOwn(browser.inputs, `${CSS_FILE}:${name}`)
  const file = [name, name.replace(/\.css$/, '')].find(isKnown)
  if (file === undefined) return undefined
  const { outputFiles } = await buildStyles(context, [{ name: 'style', files: [file] }], modules, assets.plugin)
  return outputFiles.find(({ path }) => path.endsWith('.css'))?.text
}

function typed(name: string, contents: string | Uint8Array | undefined): ServedFile | undefined {
  return contents === undefined ? undefined : { type: typeOf(name), contents }
}

function typeOf(name: string): string {
  return TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
}
