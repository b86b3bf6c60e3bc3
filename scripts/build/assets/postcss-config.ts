import { existsSync, readFileSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { BuildFault } from '../build-fault.ts'
import { displayPath } from '../build-options.ts'
import { foldersOf, importFrom, installText, missingPackage } from '../resolve/project-package.ts'

const MODULE_ENDINGS = ['ts', 'mts', 'cts', 'js', 'mjs', 'cjs']

/** Names of PostCSS's config, as other tools look for it; beside them, the key `postcss` of package.json. */
export const POSTCSS_FILES: readonly string[] = [
  ...['', '.json', '.yaml', '.yml'].map((ending) => `.postcssrc${ending}`),
  ...MODULE_ENDINGS.flatMap((ending) => [`.postcssrc.${ending}`, `postcss.config.${ending}`]),
]

/** What PostCSS is to do. */
interface PostcssConfig {
  readonly plugins: readonly unknown[]
  /** Its options: `parser`, `syntax`, `stringifier`, `map`. */
  readonly options: Readonly<Record<string, unknown>>
}

/** What a config says, before its plugins are loaded. */
interface ConfigObject extends Readonly<Record<string, unknown>> {
  readonly plugins?: readonly unknown[] | Readonly<Record<string, unknown>>
}

/**
 * The config of a project, or of the repository around it.
 * @returns its absolute path; `undefined` if there is none.
 */
export function findPostcssConfig(root: string): string | undefined {
  for (const folder of foldersOf(root)) {
    if (ofManifest(folder) !== undefined) return join(folder, 'package.json')
    const name = POSTCSS_FILES.find((file) => existsSync(join(folder, file)))
    if (name !== undefined) return join(folder, name)
  }
  return undefined
}

function ofManifest(folder: string): unknown {
  const file = join(folder, 'package.json')
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { postcss?: unknown }).postcss : undefined
}

/**
 * Reads a config, and loads the plugins that it names.
 * @throws {BuildFault} in one line, for a config or a plugin that cannot be loaded.
 */
export async function loadPostcssConfig(root: string, file: string): Promise<PostcssConfig> {
  const shown = displayPath(root, file)
  try {
    const written = await readConfig(root, file)
    const config = typeof written === 'function' ? await written(contextOf()) : written
    if (typeof config !== 'object' || config === null) {
      throw new BuildFault(`${shown} has no default export: write export default { plugins: { … } }.`)
    }
    const { plugins = [], ...options }: ConfigObject = config
    return { plugins: await loadPlugins(file, plugins), options: await loadSyntaxes(file, options) }
  } catch (error) {
    if (error instanceof BuildFault) throw error
    const missing = missingPackage(error)
    if (missing !== undefined) throw new BuildFault(installText(shown, missing))
    throw new BuildFault(`${shown} could not be loaded: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** What a config that is a function gets. */
function contextOf(): Readonly<Record<string, string>> {
  return { env: process.env['NODE_ENV'] ?? 'production', cwd: process.cwd() }
}

async function readConfig(root: string, file: string): Promise<unknown> {
  if (file.endsWith('package.json')) return ofManifest(dirname(file))
  if (MODULE_ENDINGS.includes(extname(file).slice(1))) return defaultOf(await import(pathToFileURL(file).href))
  const text = readFileSync(file, 'utf8')
  try {
    return JSON.parse(text)
  } catch (error) {
    if (file.endsWith('.json')) throw error
    const yaml = await importFrom(join(root, 'package.json'), 'yaml')
    return (yaml as { parse(text: string): unknown }).parse(text)
  }
}

async function loadPlugins(file: string, plugins: NonNullable<ConfigObject['plugins']>): Promise<readonly unknown[]> {
  const entries: readonly unknown[] = Array.isArray(plugins) ? plugins : Object.entries(plugins)
  const loaded = entries.map((entry) => {
    if (typeof entry === 'string') return loadPlugin(file, entry)
    if (Array.isArray(entry) && typeof entry[0] === 'string') return loadPlugin(file, entry[0], entry[1])
    return entry
  })
  return (await Promise.all(loaded)).filter((plugin) => plugin !== undefined && plugin !== null && plugin !== false)
}

async function loadPlugin(file: string, name: string, options?: unknown): Promise<unknown> {
  if (options === false) return undefined
  const plugin = defaultOf(await importFrom(file, name))
  if (typeof plugin !== 'function') return plugin
  const hasOptions = typeof options === 'object' && options !== null && Object.keys(options).length > 0
  return hasOptions ? plugin(options) : plugin()
}

/** Syntaxes may be named, as plugins are. */
async function loadSyntaxes(file: string, options: ConfigObject): Promise<Record<string, unknown>> {
  const entries = Object.entries(options).map(async ([key, value]) =>
    typeof value === 'string' && ['parser', 'syntax', 'stringifier'].includes(key)
      ? ([key, defaultOf(await importFrom(file, value))] as const)
      : ([key, value] as const),
  )
  return Object.fromEntries(await Promise.all(entries))
}

/** CommonJS that says `__esModule` has its default one level deeper. */
function defaultOf(module: Readonly<Record<string, unknown>>): unknown {
  const exported = module['default'] ?? module
  const isWrapped = typeof exported === 'object' && exported !== null && '__esModule' in exported
  return isWrapped && 'default' in exported ? exported.default : exported
}
