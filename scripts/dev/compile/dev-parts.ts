import type { BuildResult, Metafile, OutputFile } from 'esbuild'
import { checkActionNames } from '../../build/sides/action-faults.ts'
import { buildStyles } from '../../build/assets/build-styles.ts'
import { browserEntry, metafileKey, type BundleContext } from '../../build/bundle-options.ts'
import type { ApplicationFacts } from '../../build/project/inspect-application.ts'
import { evaluateInspection, type InspectionBundle } from '../../build/project/read-application.ts'
import { browserModules, checkServerModules } from '../../build/project/table-modules.ts'
import { groupStyles, type StyleGroups } from '../../build/assets/style-groups.ts'
import { addPackages, bundleOwnModules, type BrowserGraph, type PackageCaches } from './browser-graph.ts'
import type { DevContexts, InMemory } from './dev-contexts.ts'
import type { GenerationFolders } from './generation-folders.ts'
import { bundleServerRuntime, type ServerRuntime } from './server-runtime.ts'

/** Work that takes longer than a moment. */
export type DevWork = 'browser bundle' | 'server bundle' | 'table and actions' | 'packages' | 'server start'

/** Called before work starts: for the terminal, and for tests that count it. */
export type OnWork = (work: DevWork) => void

/** The results of one build, each of which a later one may use again. */
export interface Parts {
  readonly contexts: DevContexts
  readonly browser: BrowserGraph
  readonly server: BuildResult<InMemory>
  /** The application's own modules, as the server runs them: those of `server`, or newer ones that have the same imports. */
  readonly serverFiles: readonly OutputFile[]
  readonly runtime: ServerRuntime & { readonly linked: string }
  readonly inspection: Inspection
  readonly styles: { readonly groups: StyleGroups; readonly warnings: BuildResult['warnings'] }
}

/** What is known of the table and the actions. */
interface Inspection extends InspectionBundle, ApplicationFacts {
  /** Hash of the runtime that it was evaluated with. */
  readonly runtime: string
}

/** The last build, and what has changed since. */
interface Changes {
  /** The last build with the same compilers. */
  readonly previous: Parts | undefined
  /** Whether files were only edited: none is new or gone. */
  readonly areEdits: boolean
  /** Whether one of them is among these inputs. */
  isRead(inputs: Metafile['inputs']): boolean
  /** The same of those that may change the graph of modules: all but files that were replaced alone. */
  isGraphRead(inputs: Metafile['inputs']): boolean
  readonly changesStyles: boolean
}

/** What a build works with, beside its compilers. */
interface PartsTools extends PackageCaches {
  readonly folders: GenerationFolders
  readonly onWork: OnWork
}

/**
 * Builds what the changes concern.
 * @throws as `buildApplication` does.
 */
export async function buildParts(
  contexts: DevContexts,
  { previous, areEdits, isRead, isGraphRead, changesStyles }: Changes,
  tools: PartsTools,
): Promise<Parts> {
  const { context } = contexts
  const { folders, onWork } = tools
  const reusable = areEdits ? previous : undefined
  const announced = <Result>(work: DevWork, start: () => Result): Result => {
    onWork(work)
    return start()
  }
  const bundledFacts =
    reusable !== undefined && !isRead(reusable.inspection.inputs)
      ? reusable.inspection
      : announced('table and actions', () => bundleFacts(contexts))
  const sameRuntime = previous !== undefined && !isRead(previous.runtime.inputs) ? previous : undefined
  const own =
    reusable !== undefined && !isGraphRead(reusable.browser.metafile.inputs)
      ? reusable.browser
      : announced('browser bundle', () => bundleOwnModules(contexts))
  // Beside the packages' bundle for the server, which takes as long.
  const joined = Promise.resolve(own).then((graph) => addPackages(contexts, graph, tools))
  joined.catch(() => undefined) // other faults are reported first
  const [browser, server, facts, inspected] = await Promise.allSettled([
    own,
    reusable !== undefined && !isRead(reusable.server.metafile.inputs)
      ? reusable.server
      : announced('server bundle', () => bundleServer(contexts, folders)),
    bundledFacts,
    sameRuntime && inspectEarly(contexts, bundledFacts, { previous: sameRuntime, folders }),
  ])
  if (browser.status === 'rejected') throw browser.reason
  if (server.status === 'rejected') throw server.reason
  if (facts.status === 'rejected') throw facts.reason

  const files = [...contexts.linkedFiles()].toSorted()
  const linked = JSON.stringify(files)
  const runtime =
    sameRuntime?.runtime.linked === linked
      ? sameRuntime.runtime
      : { ...(await bundleServerRuntime(context, files, contexts.serverPlugins, tools)), linked }
  const isEarly = runtime === sameRuntime?.runtime
  if (isEarly && inspected.status === 'rejected') throw inspected.reason
  const early = isEarly && inspected.status === 'fulfilled' ? inspected.value : undefined
  const inspection =
    'sources' in facts.value
      ? facts.value
      : (early ?? (await inspect(contexts, facts.value, { runtime, previous: previous?.inspection, folders })))
  checkServerModules(context, server.value.metafile, inspection.sources)
  const graph = await joined
  const groups = groupsOf(context, graph.metafile, inspection.sources)
  const areSame =
    reusable !== undefined &&
    !changesStyles &&
    JSON.stringify(groups.groups) === JSON.stringify(reusable.styles.groups.groups)
  const warnings = areSame ? reusable.styles.warnings : await styleWarnings(contexts, groups)
  const serverFiles = server.value === previous?.server ? previous.serverFiles : server.value.outputFiles
  return {
    contexts,
    browser: graph,
    server: server.value,
    serverFiles,
    runtime,
    inspection,
    styles: { groups, warnings },
  }
}

/** The first half of an inspection. */
export async function bundleFacts({ context, inspection }: DevContexts): Promise<InspectionBundle> {
  await checkActionNames(context)
  const { outputFiles, metafile } = await inspection.rebuild()
  return { text: outputFiles[0]?.text ?? '', inputs: metafile.inputs }
}

async function bundleServer({ server }: DevContexts, folders: GenerationFolders): Promise<BuildResult<InMemory>> {
  const result = await server.rebuild()
  folders.stage(result.outputFiles)
  return result
}

/** Evaluates the application while bundles are made, by the runtime of the last build, which seldom changes. */
async function inspectEarly(
  contexts: DevContexts,
  facts: InspectionBundle | Inspection | Promise<InspectionBundle>,
  { previous, folders }: { readonly previous: Parts; readonly folders: GenerationFolders },
): Promise<Inspection> {
  return inspect(contexts, await facts, { runtime: previous.runtime, previous: previous.inspection, folders })
}

/** The second half: evaluates the application where its text has changed, or the runtime that it is linked to. */
export async function inspect(
  { context, spare }: DevContexts,
  { text, inputs }: InspectionBundle,
  {
    runtime,
    previous,
    folders,
  }: {
    readonly runtime: ServerRuntime
    readonly previous: Inspection | undefined
    readonly folders: GenerationFolders
  },
): Promise<Inspection> {
  if (previous?.text === text && previous.runtime === runtime.hash) return { ...previous, inputs }
  const folder = await folders.forInspection(runtime)
  const facts = await evaluateInspection(context, folder, text, spare.take())
  return { ...facts, text, inputs, runtime: runtime.hash }
}

function groupsOf(context: BundleContext, browser: Metafile, sources: ApplicationFacts['sources']): StyleGroups {
  return groupStyles(browser, metafileKey(context.root, browserEntry(context)), browserModules(sources))
}

/**
 * Browsers load stylesheets one by one, and a link does not report a failing one.
 * @throws esbuild's failure.
 */
export async function styleWarnings(
  { context, modules, assets }: DevContexts,
  { groups }: StyleGroups,
): Promise<BuildResult['warnings']> {
  const { warnings } = await buildStyles(context, groups, modules, assets.plugin)
  return [...warnings]
}
