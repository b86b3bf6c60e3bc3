import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BuildResult, Metafile, OutputFile } from 'esbuild'
import { browserModules } from '../build/asset-manifest.ts'
import type { AssetFiles } from '../build/asset-files.ts'
import { BuildFault } from '../build/build-fault.ts'
import { readBuildInputs } from '../build/build-inputs.ts'
import { displayPath, type BuildOptions } from '../build/build-options.ts'
import { browserEntry, metafileKey, type BundleContext } from '../build/bundle-options.ts'
import { contentHash } from '../build/content-hash.ts'
import { buildStyles } from '../build/build-styles.ts'
import type { CssModules } from '../build/css-modules.ts'
import { STYLE } from '../build/css-files.ts'
import { describeMessages } from '../build/esbuild-messages.ts'
import { publicEnvDefines } from '../build/public-env.ts'
import type { ApplicationFacts, RouteSources } from '../build/inspect-application.ts'
import { bundleInspection, evaluateInspection } from '../build/read-application.ts'
import { OWN_RUNTIME } from '../build/runtime.ts'
import { checkServerModules } from '../build/server-modules.ts'
import { groupStyles, type StyleGroups } from '../build/style-groups.ts'
import { openDevContexts, type DevContexts, type InMemory } from './dev-contexts.ts'
import { notePluginReads, type PluginReads } from './plugin-reads.ts'
import { bundleServerRuntime, type ServerRuntime } from './server-runtime.ts'

/** One successful build of the sources. */
export interface DevGeneration {
  readonly context: BundleContext
  /** Of a bundle that is never served: it proves that the sources fit together, and contains the import graph. */
  readonly browser: Metafile
  readonly server: DevServerBundle
  readonly sources: RouteSources
  readonly rules: ApplicationFacts['rules']
  /** Warnings of the compilers, for the terminal; empty if there are none. */
  readonly warnings: string
  readonly styles: StyleGroups
  readonly assets: AssetFiles
  readonly modules: CssModules
  readonly reads: PluginReads
}

/** What a generation of the application's server runs. */
export interface DevServerBundle {
  /** The application's own modules. */
  readonly files: readonly OutputFile[]
  readonly metafile: Metafile
  /** Everything else, the same object as long as it has not changed. */
  readonly runtime: ServerRuntime
  /** Changes when anything that the server runs has changed. */
  readonly hash: string
}

/** Rebuilds an application incrementally, by the rules of the production build. */
export interface DevBuild {
  /**
   * @param changed absolute paths of files that were saved or removed since the last build that succeeded; the parts of the
   * build that read none of them stay. Everything is built where one of them is new or gone, and without this argument.
   * @throws as `buildApplication` does.
   */
  rebuild(changed?: readonly string[]): Promise<DevGeneration>
  /** Makes the next build read everything. */
  forget(): void
  /** What the last builds have read, failed ones included. */
  readonly reads: PluginReads
  dispose(): Promise<void>
}

/** The results that a later build may keep. */
interface Parts {
  readonly contexts: DevContexts
  readonly browser: BuildResult<InMemory>
  readonly server: BuildResult<InMemory>
  readonly runtime: ServerRuntime & { readonly linked: string }
  readonly inspection: { readonly text: string; readonly inputs: Metafile['inputs'] } & ApplicationFacts
  readonly styles: { readonly groups: StyleGroups; readonly warnings: BuildResult['warnings'] }
}

const PUBLIC_NAME = /\bPUBLIC_[A-Z0-9_]/

/**
 * @param options `out` is the folder for everything that has to be on disk.
 * @param env the values of public variables.
 */
export function createDevBuild(options: BuildOptions, env: Readonly<Record<string, string | undefined>>): DevBuild {
  const { root, app, out, basePath = '', runtime = OWN_RUNTIME } = options
  const reads = notePluginReads(options.customization ?? {})
  const { customization } = reads
  const state: { contexts?: DevContexts; key?: string; last?: Parts } = {}

  async function currentContexts(): Promise<DevContexts> {
    const { publicNames } = readBuildInputs(options, env)
    const defines = publicEnvDefines(publicNames, env)
    const key = JSON.stringify(defines)
    if (state.contexts !== undefined && state.key === key) return state.contexts
    await dispose()
    state.contexts = await openDevContexts({
      root,
      app,
      basePath,
      runtime,
      customization,
      mode: 'development',
      defines,
    })
    state.key = key
    return state.contexts
  }

  async function rebuild(changed?: readonly string[]): Promise<DevGeneration> {
    const { last } = state
    const kept =
      last !== undefined && changed !== undefined && isPlainSave(root, last, changed, reads) ? last : undefined
    const contexts = kept?.contexts ?? (await currentContexts())
    const affected = changed?.flatMap((file) => [file, ...reads.usersOf(file)])
    const keys = new Set(affected?.map((file) => displayPath(root, file)))
    const isRead = (inputs: Metafile['inputs']): boolean => Object.keys(inputs).some((key) => keys.has(fileOf(key)))
    const { context, wall } = contexts
    const changesStyles = [...keys].some((key) => STYLE.test(key))
    if (kept === undefined || changesStyles) contexts.modules.clear()

    const [browser, server] = await Promise.allSettled([
      kept !== undefined && !isRead(kept.browser.metafile.inputs) ? kept.browser : contexts.browser.rebuild(),
      kept !== undefined && !isRead(kept.server.metafile.inputs) ? kept.server : contexts.server.rebuild(),
    ])
    if (wall.violations().length > 0) throw new BuildFault(wall.violations().join('\n\n'))
    if (browser.status === 'rejected') throw browser.reason
    if (server.status === 'rejected') throw server.reason

    const linked = JSON.stringify([...contexts.links.files].toSorted())
    const former = last?.contexts === contexts ? last.runtime : undefined
    const [bundled, inspection] = await Promise.all([
      former !== undefined && former.linked === linked && !isRead(former.inputs)
        ? former
        : bundleServerRuntime(context, [...contexts.links.files], contexts.serverPlugins).then((made) => ({
            ...made,
            linked,
          })),
      kept !== undefined && !isRead(kept.inspection.inputs) ? kept.inspection : inspect(contexts),
    ])
    checkServerModules(root, server.value.metafile, inspection.sources)
    const groups = groupsOf(context, browser.value.metafile, inspection.sources)
    const areSame =
      kept !== undefined &&
      !changesStyles &&
      JSON.stringify(groups.groups) === JSON.stringify(kept.styles.groups.groups)
    const styles = { groups, warnings: areSame ? kept.styles.warnings : await styleWarnings(contexts, groups) }
    const parts: Parts = {
      contexts,
      browser: browser.value,
      server: server.value,
      runtime: bundled,
      inspection,
      styles,
    }
    state.last = parts
    return generationOf(parts, reads)
  }

  async function inspect({ context, serverPlugins }: DevContexts): Promise<Parts['inspection']> {
    const { text, inputs } = await bundleInspection(context, serverPlugins)
    if (state.last?.inspection.text === text) return { ...state.last.inspection, inputs }
    const { sources, rules } = await evaluateInspection(context, join(out, 'inspection'), text)
    return { text, inputs, sources, rules }
  }

  async function dispose(): Promise<void> {
    const former = state.contexts
    delete state.contexts
    delete state.last
    await former?.dispose()
  }

  return { rebuild, forget: () => void delete state.last, reads, dispose }
}

/** Whether every file was read by the last build and is still there, and none of them names a public variable. */
function isPlainSave(
  root: string,
  { browser, server, runtime, inspection }: Parts,
  changed: readonly string[],
  reads: PluginReads,
): boolean {
  const inputs = [browser.metafile.inputs, server.metafile.inputs, runtime.inputs, inspection.inputs]
  const known = new Set(inputs.flatMap((all) => Object.keys(all).map(fileOf)))
  return changed.every(
    (file) =>
      (known.has(displayPath(root, file)) || reads.usersOf(file).length > 0) &&
      existsSync(file) &&
      !PUBLIC_NAME.test(readFileSync(file, 'latin1')),
  )
}

/** The path in the project of an input, which may have a namespace: `css-file:src/app/card.module.css`. */
export function fileOf(key: string): string {
  return key.replace(/^[a-z][a-z-]+:/, '')
}

function groupsOf(context: BundleContext, browser: Metafile, sources: RouteSources): StyleGroups {
  return groupStyles(browser, metafileKey(context.root, browserEntry(context)), browserModules(sources))
}

/** Browsers load stylesheets one by one, and a link does not report a failing one. */
async function styleWarnings(
  { context, modules, assets }: DevContexts,
  { groups }: StyleGroups,
): Promise<BuildResult['warnings']> {
  const { warnings } = await buildStyles(context, groups, modules, assets.plugin)
  return [...warnings]
}

async function generationOf(
  { contexts, browser, server, runtime, inspection, styles }: Parts,
  reads: PluginReads,
): Promise<DevGeneration> {
  const { context, assets, modules } = contexts
  const warnings = [...browser.warnings, ...styles.warnings]
  return {
    context,
    browser: browser.metafile,
    server: {
      files: server.outputFiles,
      metafile: server.metafile,
      runtime,
      hash: contentHash(runtime.hash, ...server.outputFiles.map(({ hash }) => hash)),
    },
    sources: inspection.sources,
    rules: inspection.rules,
    styles: styles.groups,
    warnings: warnings.length === 0 ? '' : await describeMessages(warnings, 'warning'),
    assets,
    modules,
    reads,
  }
}
