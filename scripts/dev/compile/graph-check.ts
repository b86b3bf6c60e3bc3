import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Metafile } from 'esbuild'
import { displayPath, type BuildOptions } from '../../build/build-options.ts'
import { CSS_FILE, STYLE } from '../../build/assets/css-files.ts'
import { CSS_MODULE, type CssModules } from '../../build/assets/css-modules.ts'
import { pluginsOf } from '../../build/resolve/customization.ts'
import { pluginClaims } from '../../build/resolve/plugin-claims.ts'
import { isServerModule } from '../../build/sides/server-wall.ts'
import type { Parts } from './dev-parts.ts'
import { readInterfaces, type ModuleInterfaces } from './module-interfaces.ts'
import type { PluginReads } from './plugin-reads.ts'
import { isOwnModule } from './server-modules.ts'

/** What the modules of one build have to do with each other. */
export interface GraphInterfaces {
  readonly scripts: Promise<ModuleInterfaces>
  /** Of stylesheets with local names, by absolute path. */
  readonly styles: ReadonlyMap<string, StyleInterface>
}

/** What a stylesheet with local names has to do with others. */
interface StyleInterface {
  /** What scripts see of it, as JSON. */
  readonly names: string
  /** The files that it is composed from, and its warnings, as JSON. */
  readonly rest: string
}

/** The interfaces of the build before. */
interface PreviousInterfaces {
  readonly graph: GraphInterfaces
  /** Absolute paths of the files that have changed since then. */
  readonly changed: readonly string[]
}

/** Tells saves that concern single modules from those that change the graph of modules. */
export interface GraphCheck {
  /**
   * Whether every file was read by the last build and is still there, none of them names a public variable or is part of a
   * worker, and none that browsers get may read the environment.
   */
  areEdits(parts: Parts, changed: readonly string[]): boolean
  /**
   * @param before when the build started, in milliseconds since 1970.
   * @param previous of the build before, where all changes since then were edits; only those are read again.
   */
  interfacesOf(parts: Parts, before: number, previous?: PreviousInterfaces): Promise<GraphInterfaces>
  /**
   * Whether no other file can be affected but the modules that import a stylesheet: modules import the same as in that build,
   * and export at least the same.
   */
  keeps(parts: Parts, graph: GraphInterfaces, changed: readonly string[]): Promise<boolean>
  /** The interfaces that stylesheets among these files have now. */
  stylesOf(parts: Parts, files: readonly string[]): Promise<GraphInterfaces['styles']>
}

const PUBLIC_NAME = /\bPUBLIC_[A-Z0-9_]/

/** Also what `closedEnv` looks at, which only a build of the whole bundle runs. */
const BROWSER_ENVIRONMENT = /\benv\b|\bPUBLIC_[A-Z0-9_]/

/** The table and the rules, which have to be evaluated. */
const EVALUATED = /(?:^|\/)(?:app\.ts|routes\.tsx?)$/

/** @param reads the files that plugins read. */
export function createGraphCheck(
  { root, app, customization }: Pick<BuildOptions, 'root' | 'app' | 'customization'>,
  reads: PluginReads,
): GraphCheck {
  const sides = ['browser', 'server'] as const
  const claims = Promise.all(sides.map((side) => pluginClaims(pluginsOf(customization, side))))
  const keyOf = (file: string): string => displayPath(root, file)

  function areEdits(
    { browser, server, runtime, inspection, contexts: { urls } }: Parts,
    changed: readonly string[],
  ): boolean {
    const inputs = [browser.metafile.inputs, server.metafile.inputs, runtime.inputs, inspection.inputs]
    const known = new Set(inputs.flatMap((all) => Object.keys(all).map(fileOf)))
    return changed.every(
      (file) =>
        (known.has(keyOf(file)) || reads.usersOf(file).length > 0) &&
        existsSync(file) &&
        !urls.isMadeFrom(file) &&
        !environment(Object.hasOwn(browser.metafile.inputs, keyOf(file))).test(readFileSync(file, 'latin1')),
    )
  }

  async function keepScripts(
    { browser, server }: Parts,
    graph: GraphInterfaces,
    files: readonly string[],
  ): Promise<boolean> {
    const ofSides = await claims
    if (files.some((file) => EVALUATED.test(displayPath(app, file)) || ofSides.some(({ loads }) => loads(file)))) {
      return false
    }
    const known = await graph.scripts
    const keys = files.map(keyOf)
    if (keys.some((key) => !known.has(key))) return false
    const fresh = await readInterfaces(root, keys).catch(() => undefined)
    const hasStarOf = (key: string): boolean =>
      [...known].some(
        ([user, { imports }]) =>
          imports.includes('export *') &&
          [browser, server].some(({ metafile }) => metafile.inputs[user]?.imports.some(({ path }) => path === key)),
      )
    return keys.every((key) => {
      const [before, after] = [known.get(key), fresh?.get(key)]
      if (before === undefined || after?.imports !== before.imports) return false
      const exported = new Set(after.exports)
      if (!before.exports.every((name) => exported.has(name))) return false
      // The table has rules for what its server modules export.
      return exported.size === before.exports.length || (!isServerModule(key) && !hasStarOf(key))
    })
  }

  const styleKey = (file: string): string => `${CSS_FILE}:${keyOf(file)}`

  function stylesOf({ browser, contexts }: Parts, files: readonly string[]): Promise<GraphInterfaces['styles']> {
    const named = files.filter(
      (file) => CSS_MODULE.test(file) && Object.hasOwn(browser.metafile.inputs, styleKey(file)),
    )
    return styleInterfaces(contexts.modules, named)
  }

  async function keepStyles(parts: Parts, graph: GraphInterfaces, files: readonly string[]): Promise<boolean> {
    const { browser, contexts } = parts
    const { inputs } = browser.metafile
    if (files.some((file) => !Object.hasOwn(inputs, styleKey(file)) && reads.usersOf(file).length === 0)) return false
    const composed = new Set(
      Object.entries(inputs).flatMap(([key, { imports }]) => (isStyleKey(key) ? imports.map(({ path }) => path) : [])),
    )
    await contexts.modules.forget(files)
    const fresh = await stylesOf(parts, files).catch(() => undefined)
    return (
      fresh !== undefined &&
      [...fresh].every(([file, { names, rest }]) => {
        const before = graph.styles.get(file)
        return rest === before?.rest && (names === before.names || !composed.has(styleKey(file)))
      })
    )
  }

  return {
    areEdits,
    async interfacesOf(parts, before, previous) {
      const { browser, server, runtime, contexts } = parts
      const keys = new Set([browser, server].flatMap(({ metafile }) => Object.keys(metafile.inputs).map(fileOf)))
      const own = [...keys].filter((key) => isOwnModule(join(root, key)) && !Object.hasOwn(runtime.inputs, key))
      const scripts = readChanged(root, own, before, previous)
      return { scripts, styles: await styleInterfaces(contexts.modules, namedStyles(root, browser.metafile)) }
    },
    async keeps(parts, graph, changed) {
      if (changed.length === 0 || !areEdits(parts, changed)) return false
      const affected = reads.withUsers(changed)
      const styles = affected.filter((file) => STYLE.test(file))
      const scripts = affected.filter((file) => !STYLE.test(file))
      return (await keepScripts(parts, graph, scripts)) && keepStyles(parts, graph, styles)
    },
    stylesOf,
  }
}

/** What only a build can judge in a source. */
function environment(isInBrowser: boolean): RegExp {
  return isInBrowser ? BROWSER_ENVIRONMENT : PUBLIC_NAME
}

/** Whether one of these files is among the inputs of a bundle. */
export function readerOf(root: string, files: readonly string[]): (inputs: Metafile['inputs']) => boolean {
  const keys = new Set(files.map((file) => displayPath(root, file)))
  return (inputs) => Object.keys(inputs).some((key) => keys.has(fileOf(key)))
}

/** The path in the project of an input, which may have a namespace: `css-file:src/app/card.module.css`. */
export function fileOf(key: string): string {
  return key.replace(/^[a-z][a-z-]+:/, '')
}

/** Sources that do not compile by now have no interface. */
async function readChanged(
  root: string,
  keys: readonly string[],
  before: number,
  previous?: PreviousInterfaces,
): Promise<ModuleInterfaces> {
  const changed = new Set(previous?.changed.map((file) => displayPath(root, file)))
  const known: ModuleInterfaces = (await previous?.graph.scripts) ?? new Map()
  const isModule = new Set(keys)
  const unchanged = new Map([...known].filter(([key]) => isModule.has(key) && !changed.has(key)))
  const others = keys.filter((key) => !unchanged.has(key))
  const fresh = await readInterfaces(root, others, before).catch((): ModuleInterfaces => new Map())
  return new Map([...unchanged, ...fresh])
}

function namedStyles(root: string, { inputs }: Metafile): readonly string[] {
  const keys = Object.keys(inputs).filter(isStyleKey)
  return keys.map((key) => join(root, fileOf(key))).filter((file) => CSS_MODULE.test(file))
}

function isStyleKey(key: string): boolean {
  return key.startsWith(`${CSS_FILE}:`)
}

async function styleInterfaces(modules: CssModules, files: readonly string[]): Promise<GraphInterfaces['styles']> {
  const read = async (file: string): Promise<readonly [string, StyleInterface]> => {
    const { names, composed, warnings } = await modules.compile(file)
    return [file, { names: JSON.stringify(names), rest: JSON.stringify([composed, warnings]) }]
  }
  return new Map(await Promise.all(files.map(read)))
}
