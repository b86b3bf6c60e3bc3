import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { context as esbuildContext, type BuildContext, type Metafile, type OutputFile } from 'esbuild'
import { createAssetFiles, type AssetFiles } from '../build/asset-files.ts'
import { browserModules } from '../build/asset-manifest.ts'
import { BuildFault } from '../build/build-fault.ts'
import { readBuildInputs } from '../build/build-inputs.ts'
import type { BuildOptions } from '../build/build-options.ts'
import {
  browserEntry,
  browserOptions,
  metafileKey,
  nodeOptions,
  SERVER_ENTRY,
  type BundleContext,
} from '../build/bundle-options.ts'
import { contentHash } from '../build/content-hash.ts'
import { buildStyles } from '../build/build-styles.ts'
import { cssFiles } from '../build/css-files.ts'
import { pluginsOf } from '../build/customization.ts'
import { createCssModules, type CssModules } from '../build/css-modules.ts'
import { describeMessages } from '../build/esbuild-messages.ts'
import { requireOneReact } from '../build/one-react.ts'
import { closedEnv, publicEnvDefines } from '../build/public-env.ts'
import { type RouteSources } from '../build/inspect-application.ts'
import { bundleInspection, evaluateInspection } from '../build/read-application.ts'
import { OWN_RUNTIME, runtimeModule } from '../build/runtime.ts'
import { checkServerModules } from '../build/server-modules.ts'
import { createServerWall } from '../build/server-wall.ts'
import { serverPackages } from '../build/server-packages.ts'
import { groupStyles, type StyleGroups } from '../build/style-groups.ts'
import { notePluginReads, type PluginReads } from './plugin-reads.ts'

/** One successful build of the sources. */
export interface DevGeneration {
  readonly context: BundleContext
  /** Of a bundle that is never served: it proves that the sources fit together, and contains the import graph. */
  readonly browser: Metafile
  readonly server: {
    readonly files: readonly OutputFile[]
    readonly metafile: Metafile
    /** Changes when anything that the server runs has changed. */
    readonly hash: string
  }
  readonly sources: RouteSources
  /** Warnings of the compilers, for the terminal; empty if there are none. */
  readonly warnings: string
  readonly styles: StyleGroups
  readonly assets: AssetFiles
  readonly modules: CssModules
  readonly reads: PluginReads
}

/** Rebuilds an application incrementally, by the rules of the production build. */
export interface DevBuild {
  /** @throws as `buildApplication` does; the next call starts from there. */
  rebuild(): Promise<DevGeneration>
  /** What the last builds have read, failed ones included. */
  readonly reads: PluginReads
  dispose(): Promise<void>
}

/** The parts that live as long as the public variables stay the same. */
interface Contexts {
  readonly defines: string
  readonly context: BundleContext
  readonly browser: BuildContext
  readonly server: BuildContext
  readonly wall: ReturnType<typeof createServerWall>
  readonly assets: AssetFiles
  readonly modules: CssModules
}

/**
 * @param options `out` is the folder for everything that has to be on disk.
 * @param env the values of public variables.
 */
export function createDevBuild(options: BuildOptions, env: Readonly<Record<string, string | undefined>>): DevBuild {
  const { root, app, out, runtime = OWN_RUNTIME } = options
  const reads = notePluginReads(options.customization ?? {})
  const { customization } = reads
  const state: { contexts?: Contexts; inspected?: { readonly text: string; readonly sources: RouteSources } } = {}

  async function currentContexts(): Promise<Contexts> {
    const inputs = readBuildInputs(options, env)
    const defines = publicEnvDefines(inputs.publicNames, env)
    const key = JSON.stringify(defines)
    if (state.contexts?.defines === key) return state.contexts
    await dispose()
    return (state.contexts = await openContexts(
      { root, app, runtime, customization, mode: 'development', defines },
      key,
    ))
  }

  async function readSources({ context, assets, modules }: Contexts): Promise<RouteSources> {
    const plugins = [
      ...pluginsOf(customization, 'server'),
      assets.plugin,
      cssFiles(root, modules),
      serverPackages(root),
    ]
    const text = await bundleInspection(context, plugins)
    if (state.inspected?.text === text) return state.inspected.sources
    const { sources } = await evaluateInspection(context, join(out, 'inspection'), text)
    state.inspected = { text, sources }
    return sources
  }

  async function rebuild(): Promise<DevGeneration> {
    const contexts = await currentContexts()
    const { context, wall, assets, modules } = contexts
    modules.clear()
    const [browser, server] = await Promise.allSettled([contexts.browser.rebuild(), contexts.server.rebuild()])
    if (wall.violations().length > 0) throw new BuildFault(wall.violations().join('\n\n'))
    if (browser.status === 'rejected') throw browser.reason
    if (server.status === 'rejected') throw server.reason
    const sources = await readSources(contexts)
    const { metafile, outputFiles } = server.value
    if (metafile === undefined || browser.value.metafile === undefined) throw new Error('esbuild returned no metafile')
    checkServerModules(root, metafile, sources)
    requireOneReact(metafile)
    const entry = metafileKey(root, browserEntry(context))
    const styles = groupStyles(browser.value.metafile, entry, browserModules(sources))
    // Browsers load stylesheets one by one, and a link does not report a failing one.
    const built = await buildStyles(context, styles.groups, modules, assets.plugin)
    const warnings = [...browser.value.warnings, ...built.warnings]
    return {
      context,
      browser: browser.value.metafile,
      server: {
        files: outputFiles ?? [],
        metafile,
        hash: contentHash(...(outputFiles ?? []).map(({ hash }) => hash)),
      },
      sources,
      styles,
      warnings: warnings.length === 0 ? '' : await describeMessages(warnings, 'warning'),
      assets,
      modules,
      reads,
    }
  }

  async function dispose(): Promise<void> {
    const former = state.contexts
    delete state.contexts
    await Promise.all([former?.browser.dispose(), former?.server.dispose()])
  }

  return { rebuild, dispose, reads }
}

async function openContexts(context: BundleContext, defines: string): Promise<Contexts> {
  const { root, runtime = OWN_RUNTIME } = context
  const wall = createServerWall(context)
  const assets = createAssetFiles()
  const modules = createCssModules(root, pluginsOf(context.customization, 'browser'))
  const readable = { 'process.env.NODE_ENV': '"development"', ...context.defines }
  const shared = [assets.plugin, cssFiles(root, modules)]
  const browser = browserOptions(context, [
    closedEnv(root, readable),
    ...pluginsOf(context.customization, 'browser'),
    ...shared,
    wall.plugin,
  ])
  const entries = { [SERVER_ENTRY]: runtimeModule(runtime, 'server/main.ts') }
  return {
    defines,
    context,
    browser: await esbuildContext({ ...browser, sourcemap: false }),
    server: await esbuildContext({
      ...nodeOptions(context, entries, [
        ...pluginsOf(context.customization, 'server'),
        ...shared,
        serverPackages(root),
      ]),
      // Maps that do not depend on the folder: each generation has another one.
      outdir: root,
      sourceRoot: `${pathToFileURL(root).href}/`,
    }),
    wall,
    assets,
    modules,
  }
}
