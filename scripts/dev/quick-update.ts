import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { transform, type Loader } from 'esbuild'
import type { DevMessage } from '../../src/client/dev/dev-messages.ts'
import { displayPath } from '../build/build-options.ts'
import { TSCONFIG } from '../build/bundle-options.ts'
import { CSS_MODULE } from '../build/css-modules.ts'
import type { DevGeneration } from './dev-build.ts'
import { moduleGraph } from './hot-update.ts'
import { stylePath, type ModuleServer } from './module-server.ts'

const LOADERS: Readonly<Record<string, Loader>> = {
  '.ts': 'ts',
  '.mts': 'ts',
  '.cts': 'ts',
  '.tsx': 'tsx',
  '.js': 'js',
  '.mjs': 'js',
  '.cjs': 'js',
  '.jsx': 'jsx',
}

/**
 * Parses saved scripts alone, which takes milliseconds, so that a slip shows long before the build is over.
 * @param keys paths in the project.
 * @throws esbuild's failure for the first file that does not parse.
 */
export async function checkSyntax(root: string, keys: readonly string[]): Promise<void> {
  for (const key of keys) {
    const loader = LOADERS[extname(key)]
    const file = join(root, key)
    if (loader === undefined || !existsSync(file)) continue
    const text = await readFile(file, 'utf8')
    await transform(text, { loader, sourcefile: key, tsconfigRaw: TSCONFIG, logLevel: 'silent' })
  }
}

/**
 * Plans the update of open pages before the build, for saves that change nothing around the saved files: components whose
 * module imports the same as before, and stylesheets with the same class names. Gives new URLs to those modules.
 * @param generation the state that the pages run.
 * @param keys paths in the project of the saved files.
 * @returns `undefined` where only the build can tell.
 */
export async function planQuickUpdate(
  generation: DevGeneration,
  keys: readonly string[],
  modules: ModuleServer,
): Promise<Extract<DevMessage, { type: 'update' }> | undefined> {
  const graph = moduleGraph(generation.browser)
  const { root } = generation.context
  const madeFrom = (key: string) => generation.reads.usersOf(join(root, key)).map((file) => displayPath(root, file))
  const styles = [...new Set([...keys, ...keys.flatMap(madeFrom)])].filter((key) => graph.styles.has(key))
  const scripts = keys.filter((key) => !graph.styles.has(key))
  if (!(await keepNames(generation, styles))) return undefined
  for (const key of scripts) if (modules.served(key)?.refreshable !== true || !graph.has(key)) return undefined
  const before = new Map(scripts.map((key) => [key, modules.served(key)]))
  modules.forget(scripts)
  for (const key of scripts) {
    const fresh = await modules.compile(key).catch(() => undefined)
    const former = before.get(key)
    if (fresh?.refreshable !== true || fresh.imports.join('\n') !== former?.imports.join('\n')) return undefined
  }
  modules.urls.renew(scripts)
  modules.forget(scripts.flatMap((key) => [...graph.importersOf(key)]))
  return {
    type: 'update',
    modules: scripts.map((key) => ({ key, url: modules.urls.urlOf(key) })),
    styles: styles.map((file) => modules.urls.publicPath(stylePath(file))),
  }
}

async function keepNames({ context, modules }: DevGeneration, styles: readonly string[]): Promise<boolean> {
  const named = styles.filter((key) => CSS_MODULE.test(key)).map((key) => join(context.root, key))
  const namesOf = () =>
    Promise.all(named.map(async (file) => JSON.stringify((await modules.compile(file)).names))).catch(() => undefined)
  // A file that is not there by now, or that does not parse, has no names.
  const former = await namesOf()
  modules.clear()
  const fresh = await namesOf()
  return fresh !== undefined && fresh.join('\n') === former?.join('\n')
}
