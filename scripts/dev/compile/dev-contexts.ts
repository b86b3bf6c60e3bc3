import { pathToFileURL } from 'node:url'
import { context as esbuildContext, type BuildContext, type Plugin } from 'esbuild'
import { createAssetFiles, type AssetFiles } from '../../build/assets/asset-files.ts'
import { browserOptions, nodeOptions, type BundleContext } from '../../build/bundle-options.ts'
import { cssFiles } from '../../build/assets/css-files.ts'
import { createFileUrls, type FileUrls } from '../../build/assets/file-urls.ts'
import { createCssModules, type CssModules } from '../../build/assets/css-modules.ts'
import { pluginsOf } from '../../build/resolve/customization.ts'
import { lazyPackages } from '../../build/resolve/lazy-packages.ts'
import { createLookUpCache, type LookUpCache } from '../../build/resolve/look-up.ts'
import { closedEnv } from '../../build/sides/public-env.ts'
import { inspectionOptions } from '../../build/project/read-application.ts'
import { serverPackages } from '../../build/resolve/server-packages.ts'
import { createServerWall, type ServerWall } from '../../build/sides/server-wall.ts'
import { packageStamp } from '../../build/resolve/package-stamp.ts'
import { linkPackages } from './link-packages.ts'
import { linkedOptions, linkRuntime } from './server-runtime.ts'
import { createSpareInspection, type SpareInspection } from '../process/spare-inspection.ts'

/** How esbuild tells its results. */
export interface InMemory {
  metafile: true
  write: false
}

/** The compilers of one application, which live as long as its public variables stay the same. */
export interface DevContexts {
  readonly context: BundleContext
  /** Of the modules of pages, without packages. */
  readonly browser: BuildContext<InMemory>
  /** What the files of packages export that these modules import, by absolute path; `undefined` if it is not known. */
  readonly packageNames: Map<string, readonly string[] | undefined>
  /** Of the application's own modules for Node: `application.js` and `actions.js`. */
  readonly server: BuildContext<InMemory>
  /** Of the table, the rules and the actions, for a process that checks them. */
  readonly inspection: BuildContext<InMemory>
  /** Evaluates that bundle. */
  readonly spare: SpareInspection
  /** For everything else that is bundled for Node. */
  readonly serverPlugins: readonly Plugin[]
  /** What the last builds for Node import from packages and from the runtime: absolute paths. */
  linkedFiles(): ReadonlySet<string>
  /** For modules of the browser. */
  readonly browserLookUps: LookUpCache
  /** For all that is bundled for Node and leaves packages to the runtime's bundle. */
  readonly serverLookUps: LookUpCache
  /**
   * Drops look-ups that may lead to other files now; all of them where packages were installed since the last call.
   * @param changed files of which some are new or gone; absent if any may be.
   */
  forgetLookUps(changed: readonly string[] | undefined): void
  readonly wall: ServerWall
  readonly assets: AssetFiles
  readonly urls: FileUrls
  readonly modules: CssModules
  dispose(): Promise<void>
}

const IN_MEMORY: InMemory = { metafile: true, write: false }

/** @param context of the build, in development mode. */
export async function openDevContexts(context: BundleContext): Promise<DevContexts> {
  const { root, customization } = context
  const spare = createSpareInspection() // first, because it takes as long as the first bundles
  const wall = createServerWall(context)
  const assets = createAssetFiles(context.basePath)
  const modules = createCssModules(root, pluginsOf(customization, 'browser'))
  const [browserLookUps, serverLookUps] = [createLookUpCache(), createLookUpCache()]
  const [links, inspectionLinks] = [linkRuntime(context), linkRuntime(context)]
  const readable = { 'process.env.NODE_ENV': '"development"', ...context.defines }
  const shared = [assets.plugin, cssFiles(root, modules), lazyPackages(context)]
  const urls = createFileUrls(context, { assets, modules })
  const serverPlugins = [
    urls.links,
    ...pluginsOf(customization, 'server'),
    urls.server({ waits: true, copyOf: async () => undefined }),
    ...shared,
    serverPackages(context),
  ]
  const ofBrowser = pluginsOf(customization, 'browser')
  const packageNames = new Map<string, readonly string[] | undefined>()
  const browserPlugins = [
    browserLookUps.plugin,
    urls.links,
    closedEnv(root, readable),
    ...ofBrowser,
    urls.browser,
    linkPackages(context, packageNames),
    ...shared,
    wall.plugin,
  ]
  const entries = { application: 'millrace:app', actions: 'millrace:actions' }
  const [browser, server, inspection] = await Promise.all([
    esbuildContext({ ...browserOptions(context, browserPlugins), ...IN_MEMORY, sourcemap: false }),
    esbuildContext({
      ...linkedOptions(nodeOptions(context, entries, [serverLookUps.plugin, ...serverPlugins, links.plugin])),
      ...IN_MEMORY,
      sourcesContent: false, // they are read from the disk
      // Maps that do not depend on the folder, because each generation has its own.
      outdir: root,
      sourceRoot: `${pathToFileURL(root).href}/`,
    }),
    esbuildContext(
      linkedOptions(inspectionOptions(context, [serverLookUps.plugin, ...serverPlugins, inspectionLinks.plugin])),
    ),
  ]).catch((error: unknown) => {
    spare.end()
    throw error
  })
  return {
    context,
    browser,
    packageNames,
    server,
    inspection,
    spare,
    serverPlugins,
    linkedFiles: () => new Set([...links.files, ...inspectionLinks.files]),
    browserLookUps,
    serverLookUps,
    forgetLookUps: forgetting(root, [browserLookUps, serverLookUps]),
    wall,
    assets,
    urls,
    modules,
    async dispose() {
      spare.end()
      await Promise.all([browser.dispose(), server.dispose(), inspection.dispose()])
    },
  }
}

function forgetting(root: string, all: readonly LookUpCache[]): DevContexts['forgetLookUps'] {
  const state = { packages: packageStamp(root) }
  return (changed) => {
    const packages = packageStamp(root)
    for (const lookUps of all) {
      if (changed === undefined || packages !== state.packages) lookUps.clear()
      else if (changed.length > 0) lookUps.forget(changed)
    }
    state.packages = packages
  }
}
