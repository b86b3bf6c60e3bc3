import type { BuildResult, Message, Metafile, OutputFile } from 'esbuild'
import { checkComponents } from '../../build/project/table-modules.ts'
import type { AssetFiles } from '../../build/assets/asset-files.ts'
import { readBuildInputs } from '../../build/project/build-inputs.ts'
import type { BuildOptions } from '../../build/build-options.ts'
import type { BundleContext } from '../../build/bundle-options.ts'
import { contentHash } from '../../build/content-hash.ts'
import type { CssModules } from '../../build/assets/css-modules.ts'
import type { FileUrls } from '../../build/assets/file-urls.ts'
import { STYLE } from '../../build/assets/css-files.ts'
import type { LookUpCache } from '../../build/resolve/look-up.ts'
import { publicEnvDefines } from '../../build/sides/public-env.ts'
import type { ApplicationFacts, RouteSources } from '../../build/project/inspect-application.ts'
import { OWN_RUNTIME } from '../../build/runtime.ts'
import type { StyleGroups } from '../../build/assets/style-groups.ts'
import type { BundleCache } from './bundle-cache.ts'
import type { VendorMemo } from './browser-graph.ts'
import { openDevContexts, type DevContexts } from './dev-contexts.ts'
import { buildParts, bundleFacts, inspect, styleWarnings, type OnWork, type Parts } from './dev-parts.ts'
import { createGenerationFolders, type DevServerBundle, type GenerationFolders } from './generation-folders.ts'
import { createGraphCheck, readerOf, type GraphCheck, type GraphInterfaces } from './graph-check.ts'
import { notePluginReads, type PluginReads } from './plugin-reads.ts'
import { createServerFiles, type ServerFiles } from './server-files.ts'
import { importersOfStyles } from './server-modules.ts'
import type { VendorBundle } from './vendor-bundle.ts'

/** One successful build of the sources. */
export interface DevGeneration {
  readonly context: BundleContext
  /** The graph of imports, as one bundle of the project's modules and of packages would have it. */
  readonly browser: Metafile
  readonly vendors: VendorBundle
  readonly server: DevServerBundle
  readonly sources: RouteSources
  readonly urls: ApplicationFacts['urls']
  readonly rules: ApplicationFacts['rules']
  /** Warnings of the compilers. */
  readonly warnings: readonly Message[]
  readonly styles: StyleGroups
  readonly assets: AssetFiles
  readonly fileUrls: FileUrls
  readonly modules: CssModules
  readonly lookUps: LookUpCache
  readonly reads: PluginReads
}

/** Rebuilds an application incrementally, by the rules of the production build. */
export interface DevBuild {
  /**
   * @param changed absolute paths of files that were saved or removed since the last build that succeeded; the parts of the
   * build that read none of them stay. Everything is built where one of them is new or gone, and without this argument.
   * @throws as `buildApplication` does.
   */
  rebuild(changed?: readonly string[]): Promise<DevGeneration>
  /**
   * Whether these files were saved without a change of the graph: all import the same as before, and export at least the same.
   * Then `replace` is enough.
   */
  keepsGraph(changed: readonly string[]): Promise<boolean>
  /**
   * Puts single modules in the place of their last version, and builds nothing else.
   * @param changed files for which `keepsGraph` is true.
   * @throws as `buildApplication` does.
   */
  replace(changed: readonly string[]): Promise<DevGeneration>
  /**
   * Checks the table, the rules and the actions again, if `replace` has changed a module that they use.
   * @returns whether the table is still the same; if not, everything has to be built.
   * @throws as `buildApplication` does.
   */
  verify(): Promise<boolean>
  /** Makes the next build read everything. */
  forget(): void
  /** What the last builds have read, failed ones included. */
  readonly reads: PluginReads
  readonly folders: GenerationFolders
  dispose(): Promise<void>
}

/** The results of the last build, and what has changed since. */
interface LastBuild {
  readonly parts: Parts
  readonly graph: GraphInterfaces
  readonly serverFiles: ServerFiles
  /** Files that were replaced since the bundles were built. */
  readonly replaced: Set<string>
  /** Whether one of them is part of what is inspected. */
  unverified: boolean
}

/**
 * @param options `out` is the folder for everything that has to be on disk.
 * @param env the values of public variables.
 */
export function createDevBuild(
  options: BuildOptions & { readonly onWork?: OnWork; readonly bundles: BundleCache },
  env: Readonly<Record<string, string | undefined>>,
): DevBuild {
  const { root, app, out, basePath = '', runtime = OWN_RUNTIME, bundles, onWork = () => undefined } = options
  const folders = createGenerationFolders(out)
  const vendors: VendorMemo = {}
  const reads = notePluginReads(options.customization ?? {})
  const { customization } = reads
  const graph = createGraphCheck({ root, app, customization }, reads)
  const state: { contexts?: DevContexts; key?: string; last?: LastBuild; verifying?: Promise<unknown> } = {}

  async function currentContexts(): Promise<DevContexts> {
    const defines = publicEnvDefines(readBuildInputs(options, env).publicNames, env)
    const key = JSON.stringify(defines)
    if (state.contexts !== undefined && state.key === key) return state.contexts
    await dispose()
    const mode = 'development'
    state.contexts = await openDevContexts({ root, app, basePath, runtime, customization, mode, defines })
    state.key = key
    return state.contexts
  }

  async function rebuild(changed?: readonly string[]): Promise<DevGeneration> {
    await state.verifying
    const { last } = state
    const saved = changed && [...new Set([...changed, ...(last?.replaced ?? [])])]
    const areEdits = last !== undefined && saved !== undefined && graph.areEdits(last.parts, saved)
    const contexts = areEdits ? last.parts.contexts : await currentContexts()
    contexts.forgetLookUps(areEdits ? [] : saved)
    const affected = reads.withUsers(saved ?? [])
    const isRead = readerOf(root, affected)
    const styles = affected.filter((file) => STYLE.test(file))
    if (areEdits) await contexts.modules.forget(styles)
    else {
      contexts.modules.clear()
      contexts.urls.clear()
    }
    const previous = last?.parts.contexts === contexts ? last.parts : undefined
    const startedAt = Date.now()
    const isGraphRead = readerOf(root, reads.withUsers(changed ?? []))
    const changes = { previous, areEdits, isRead, isGraphRead, changesStyles: styles.length > 0 }
    const parts = await buildParts(contexts, changes, { bundles, vendors, folders, onWork })
    checkComponents({ root, app }, parts.browser.metafile, parts.inspection.sources)
    last?.serverFiles.close()
    const interfaces = areEdits ? { graph: last.graph, changed: affected } : undefined
    state.last = {
      parts,
      graph: await graph.interfacesOf(parts, startedAt, interfaces),
      serverFiles: createServerFiles(contexts, parts.server, areEdits ? last?.serverFiles : undefined, affected),
      replaced: new Set(),
      unverified: false,
    }
    return generationOf(parts, reads)
  }

  async function replace(changed: readonly string[]): Promise<DevGeneration> {
    const { last } = state
    if (last === undefined) return rebuild(changed)
    for (const file of changed) last.replaced.add(file)
    state.last = await replaceModules({ root, graph, onWork }, last, reads.withUsers(changed))
    return generationOf(state.last.parts, reads)
  }

  async function verify(): Promise<boolean> {
    const { last } = state
    if (last?.unverified !== true) return true
    const { contexts, runtime, inspection: previous } = last.parts
    last.unverified = false
    const work = bundleFacts(contexts).then((facts) => inspect(contexts, facts, { runtime, previous, folders }))
    state.verifying = work.catch(() => undefined)
    try {
      const inspection = await work
      if (factsOf(inspection) !== factsOf(previous)) return false
      if (state.last?.parts.inspection === previous)
        state.last = { ...state.last, parts: { ...state.last.parts, inspection } }
      return true
    } catch (error) {
      if (state.last?.parts.inspection === previous) state.last.unverified = true
      throw error
    }
  }

  async function dispose(): Promise<void> {
    const { contexts } = state
    delete state.contexts
    forget()
    await state.verifying
    await contexts?.dispose()
  }

  function forget(): void {
    state.last?.serverFiles.close()
    delete state.last
  }

  const keepsGraph: DevBuild['keepsGraph'] = async (changed) =>
    state.last !== undefined && graph.keeps(state.last.parts, state.last.graph, changed)
  return { rebuild, keepsGraph, replace, verify, forget, reads, folders, dispose }
}

function factsOf({ sources, urls, rules }: ApplicationFacts): string {
  return JSON.stringify([sources, urls, rules])
}

/** @param affected absolute paths of the files that were saved, and of those that are made from them. */
async function replaceModules(
  { root, graph, onWork }: { readonly root: string; readonly graph: GraphCheck; readonly onWork: OnWork },
  last: LastBuild,
  affected: readonly string[],
): Promise<LastBuild> {
  const { parts } = last
  const { metafile } = parts.server
  const isOnServer = (file: string): boolean => readerOf(root, [file])(metafile.inputs)
  const named = await graph.stylesOf(parts, affected)
  const renamed = [...named].filter(([file, { names }]) => names !== last.graph.styles.get(file)?.names)
  const users = importersOfStyles(
    root,
    metafile,
    renamed.map(([file]) => file),
  )
  const scripts = [...new Set([...affected.filter((file) => !STYLE.test(file) && isOnServer(file)), ...users])]
  const { groups } = parts.styles
  const hasStyles = affected.some((file) => STYLE.test(file))
  const [server, warnings] = await Promise.all([
    scripts.length === 0 ? {} : replaceOnServer(last, scripts, onWork),
    hasStyles ? styleWarnings(parts.contexts, groups) : parts.styles.warnings,
  ])
  const unverified = last.unverified || readerOf(root, affected)(parts.inspection.inputs)
  const interfaces = { ...last.graph, styles: new Map([...last.graph.styles, ...named]) }
  return { ...last, graph: interfaces, unverified, parts: { ...parts, ...server, styles: { groups, warnings } } }
}

/** The bundle is built again where modules cannot be compiled one by one. */
async function replaceOnServer(
  { parts, serverFiles }: LastBuild,
  files: readonly string[],
  onWork: OnWork,
): Promise<{
  readonly server?: BuildResult<{ metafile: true; write: false }>
  readonly serverFiles: readonly OutputFile[]
}> {
  const separate = await serverFiles.replace(files)
  if (separate !== undefined) return { serverFiles: separate }
  onWork('server bundle')
  const server = await parts.contexts.server.rebuild()
  return { server, serverFiles: server.outputFiles }
}

function generationOf(
  { contexts, browser, server, serverFiles, runtime, inspection, styles }: Parts,
  reads: PluginReads,
): DevGeneration {
  const { context, assets, modules, urls } = contexts
  return {
    context,
    browser: browser.metafile,
    vendors: browser.vendors,
    server: {
      files: serverFiles,
      metafile: server.metafile,
      runtime,
      hash: contentHash(runtime.hash, ...serverFiles.map(({ hash }) => hash)),
    },
    sources: inspection.sources,
    urls: inspection.urls,
    rules: inspection.rules,
    styles: styles.groups,
    warnings: [...browser.warnings, ...styles.warnings],
    assets,
    fileUrls: urls,
    modules,
    lookUps: contexts.browserLookUps,
    reads,
  }
}
