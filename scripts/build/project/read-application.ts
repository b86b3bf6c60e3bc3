import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build, type BuildOptions as EsbuildOptions, type Metafile, type Plugin } from 'esbuild'
import { checkActionNames } from '../sides/action-faults.ts'
import { actionModules } from '../sides/action-modules.ts'
import { BuildFault } from '../build-fault.ts'
import { displayPath } from '../build-options.ts'
import { entryPlace } from './entry-places.ts'
import { nodeOptions, type BundleContext } from '../bundle-options.ts'
import { isLookUp, lookUp } from '../resolve/look-up.ts'
import type { ApplicationFacts } from './inspect-application.ts'
import { withoutServer } from '../sides/node-parts.ts'
import { startInspection, type InspectionProcess } from './inspection-process.ts'
import { statesRoutes } from '../sides/routes-file.ts'
import { checkTableModules } from './table-modules.ts'

const MARKER = 'route-module'

/**
 * Evaluates `app.ts` and `routes.ts` with every module of the table replaced by a marker, then the modules that declare
 * actions: checks the table, the rules and the actions, and returns the source of each entry.
 * @param folder for the bundle; Node must find the project's packages from there.
 * @param plugins for stylesheets, assets and packages on the server.
 * @throws {BuildFault} with the fault's own message.
 */
export async function readApplication(
  context: BundleContext,
  folder: string,
  plugins: readonly Plugin[],
): Promise<ApplicationFacts> {
  const { text } = await bundleInspection(context, plugins)
  return evaluateInspection(context, folder, text)
}

/** The first half of an inspection. */
export interface InspectionBundle {
  /** Equal texts give equal results. */
  readonly text: string
  /** What was read for it. */
  readonly inputs: Metafile['inputs']
}

/**
 * The first half of `readApplication`.
 * @throws {BuildFault} for faults of actions that are visible without running them.
 */
async function bundleInspection(context: BundleContext, plugins: readonly Plugin[]): Promise<InspectionBundle> {
  await checkActionNames(context)
  const { outputFiles, metafile } = await build(inspectionOptions(context, plugins))
  return { text: outputFiles[0]?.text ?? '', inputs: metafile.inputs }
}

/** esbuild's options for the bundle that an inspection evaluates. Each build finds new modules with actions. */
export function inspectionOptions(context: BundleContext, plugins: readonly Plugin[]) {
  const entry = 'millrace:inspection'
  const entryPlugin: Plugin = {
    name: 'inspection-entry',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^millrace:inspection$/ }, ({ path }) => ({ path, namespace: 'inspection' }))
      onLoad({ filter: /.*/, namespace: 'inspection' }, () => ({
        contents: inspectionEntry(context),
        resolveDir: context.app,
      }))
    },
  }
  return {
    ...nodeOptions(context, { inspection: entry }, [
      entryPlugin,
      markRouteModules(context.root),
      withoutServer(context.runtime),
      ...plugins,
    ]),
    splitting: false,
    sourcemap: 'inline',
    metafile: true,
    write: false,
  } as const satisfies EsbuildOptions
}

/** Modules with actions are loaded last, one by one, so that a failure can be attributed to one of them. */
function inspectionEntry({ root, app }: BundleContext): string {
  const actions = actionModules(app).map((module) => {
    const source = displayPath(root, join(app, module))
    return `  ${JSON.stringify(source)}: () => import(${JSON.stringify(`./${module}`)}),\n`
  })
  return `export { default as app } from './app.ts'
export { routes } from './routes.ts'
export const actions = {\n${actions.join('')}}
`
}

/**
 * The second half of `readApplication`.
 * @param inspection a process that has evaluated nothing yet.
 */
export async function evaluateInspection(
  context: BundleContext,
  folder: string,
  text: string,
  inspection: InspectionProcess = startInspection(context.mode),
): Promise<ApplicationFacts> {
  await mkdir(folder, { recursive: true })
  const file = join(folder, 'inspection.js')
  await writeFile(file, text)
  const { report, source = displayPath(context.root, join(context.app, 'app.ts')) } = await inspection.evaluate(file)
  if ('sources' in report) {
    checkTableModules(context, report.sources)
    return report
  }
  if ('fault' in report) {
    const { fault, key, member } = report
    throw new BuildFault(fault, key === undefined ? undefined : entryPlace(context, key, member))
  }
  throw new BuildFault(`${source} could not be evaluated:\n${withoutInternals(report.failure)}`)
}

function markRouteModules(root: string): Plugin {
  return {
    name: 'mark-route-modules',
    setup(build) {
      build.onResolve({ filter: /.*/ }, async (args) => {
        if (args.kind !== 'dynamic-import' || !statesRoutes(args.importer) || isLookUp(args)) return undefined
        const found = await lookUp(build, args)
        if (found?.namespace !== 'file') return undefined
        return { path: displayPath(root, found.path), namespace: MARKER }
      })
      build.onLoad({ filter: /.*/, namespace: MARKER }, ({ path }) => ({
        contents: `export const millraceSource = ${JSON.stringify(path)}`,
        loader: 'js',
      }))
    },
  }
}

/** A stack without the frames of Node's loader and of the build. */
function withoutInternals(stack: string): string {
  return stack
    .split('\n')
    .filter((line) => !/\(node:internal|at node:internal|inspect-application\.[jt]s/.test(line))
    .join('\n')
}
