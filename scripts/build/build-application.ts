import { hash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, join, resolve } from 'node:path'
import {
  build,
  version as esbuildVersion,
  type BuildResult,
  type Metafile,
  type OutputFile,
  type Plugin,
} from 'esbuild'
import { DAY_MS } from '../../src/server/assets/kept-builds.ts'
import type { AssetManifest } from '../../src/server/assets/manifest.ts'
import { ConfigError, readKeepAssetsDays } from '../../src/server/config/config.ts'
import { encodeSegmentFiles, segmentFilesPath } from '../../src/shared/protocol/segment-files.ts'
import type { BundleAnalysis } from './output/analyze-bundle.ts'
import { assetManifest } from './output/asset-manifest.ts'
import { createAssetFiles } from './assets/asset-files.ts'
import { BuildFault } from './build-fault.ts'
import { checkEvaluation } from './project/check-evaluation.ts'
import { checkLinks } from './project/dead-links.ts'
import { bundledLicences, LICENCES, licenceList } from './output/bundled-licences.ts'
import { BUILD_INFO, type BuildInfo } from './output/build-info.ts'
import { readBuildInputs } from './project/build-inputs.ts'
import { checkBuildOptions, displayPath, PUBLIC_PATH, type BuildOptions } from './build-options.ts'
import { buildReports, type BuiltReports } from './assets/build-reports.ts'
import { buildStyles } from './assets/build-styles.ts'
import {
  browserEntry,
  browserOptions,
  metafileKey,
  EXPORT_ENTRY,
  HANDLER_ENTRY,
  nodeOptions,
  SERVER_ENTRY,
  shapesChunksOnly,
  type BundleContext,
} from './bundle-options.ts'
import { contentHash } from './content-hash.ts'
import { cssFiles } from './assets/css-files.ts'
import { pluginsOf } from './resolve/customization.ts'
import { createCssModules } from './assets/css-modules.ts'
import { nameBrowserMaps, nameServerFiles } from './output/debug-ids.ts'
import { createFileUrls, type FileUrls } from './assets/file-urls.ts'
import { ACTION_REFERENCES, describeFault, describeMessages } from './esbuild-messages.ts'
import { requireOneReact } from './resolve/one-react.ts'
import { lazyPackages } from './resolve/lazy-packages.ts'
import { createLookUpCache } from './resolve/look-up.ts'
import { withoutPackageTexts } from './output/map-texts.ts'
import { openOutputFolder, THIS_PROCESS } from './output/output-folder.ts'
import { compressedForms, createCompressor, weigh, type Compressor } from './output/precompress.ts'
import { closedEnv, publicEnvDefines } from './sides/public-env.ts'
import { readApplication } from './project/read-application.ts'
import { OWN_RUNTIME, runtimeModule } from './runtime.ts'
import { createServerCopies } from './assets/server-copies.ts'
import { browserModules, checkComponents, checkServerModules } from './project/table-modules.ts'
import { createServerWall, serverOnly } from './sides/server-wall.ts'
import { serverPackages } from './resolve/server-packages.ts'
import { chunkNotes, sizeSections } from './output/size-report.ts'
import type { SizeSection } from './output/size-table.ts'
import { groupStyles } from './assets/style-groups.ts'
import { checkDrift } from './project/table-drift.ts'

/** Result of a finished build. */
export interface BuildReport {
  readonly manifest: AssetManifest
  readonly sizes: readonly SizeSection[]
  /** Those about rules, and esbuild's, as text; empty if there are none. */
  readonly warnings: string
  /** Works out what is in the browser's scripts, and why. A build that is not asked does none of it. */
  analyze(): Promise<BundleAnalysis>
}

/** The build id's length in hexadecimal digits. */
const BUILD_ID_LENGTH = 16

const OLDEST_NODE = 24 // as `engines` of package.json

/** Starts the server's bundle; a separate file, because imports would run before any setting in the same file. */
const SERVER_MAIN = `import * as modules from 'node:module'
import { join } from 'node:path'

if (Number.parseInt(process.versions.node) < ${OLDEST_NODE}) {
  console.error(\`This build needs Node ${OLDEST_NODE} or newer, and this is \${process.version}.\`)
  process.exit(1)
}
process.env.NODE_ENV = 'production'
process.setSourceMapsEnabled(true)
modules.enableCompileCache(join(import.meta.dirname, '../cache'))
await import('./${SERVER_ENTRY}.js')
`

/**
 * Builds an application for production: the browser's files, the server's bundle, and the manifest between them. The
 * former build is untouched until this one has succeeded.
 * @param env only its `PUBLIC_*` variables can reach an output; `KEEP_ASSETS_DAYS` sets how long former builds are
 * kept.
 * @throws {BuildFault} or esbuild's own failure for faults of the application; `describeFault` formats both.
 */
export async function buildApplication(
  options: BuildOptions,
  env: Readonly<Record<string, string | undefined>>,
): Promise<BuildReport> {
  checkBuildOptions(options)
  const keepMs = keepingTime(env)
  const inputs = readBuildInputs(options, env)
  const { root, app, basePath = '', runtime = OWN_RUNTIME, customization = {} } = options
  const defines = publicEnvDefines(inputs.publicNames, env)
  const context: BundleContext = { root, app, basePath, runtime, customization, mode: 'production', defines }
  const folder = await openOutputFolder(options, THIS_PROCESS)
  try {
    const assets = createAssetFiles(basePath)
    const modules = createCssModules(root, pluginsOf(customization, 'browser'))
    const shared: readonly Plugin[] = [assets.plugin, cssFiles(root, modules), lazyPackages(context)]
    const urls = createFileUrls(context, { assets, modules })
    const onServer = serverPlugins(context, shared, urls)

    const compress = createCompressor()
    const inspection = join(folder.staging, 'inspection')
    const inspected = readApplication(context, inspection, [createLookUpCache().plugin, ...onServer.inPlace])
    const bundled = Promise.all([
      buildBrowser(context, shared, urls, compress).finally(urls.settle),
      inspected.then(async ({ hasReports }) => {
        const built = hasReports ? await buildReports(context) : undefined
        startCompressing(built?.outputFiles ?? [], compress)
        return built
      }),
      buildServer(context, onServer.inCopies()),
    ])
    bundled.catch(() => undefined) // a fault of the table is reported first
    const facts = await inspected
    const { sources } = facts
    await rm(inspection, { recursive: true })
    const [browser, reports, server] = await bundled
    checkServerModules(context, server.metafile, sources)
    checkComponents(context, browser.metafile, sources)
    checkDrift(context, sources)
    const serverFiles = nameServerFiles(new Map(withLeanMaps(byName(server.outputFiles ?? []))))
    await folder.write(within('server', new Map([...onServer.copies.files, ...serverFiles])))
    const evaluated = checkEvaluation({ root, staging: folder.staging }, server.metafile, facts)
    evaluated.catch(() => undefined) // awaited below; other faults come first
    requireOneReact(server.metafile)
    checkLinks(context, [browser.metafile, server.metafile], facts)
    const entry = metafileKey(root, browserEntry(context))
    const groups = groupStyles(browser.metafile, entry, browserModules(sources))
    const styles = await buildStyles(context, groups.groups, modules, assets.plugin)

    const outputs = byName([...browser.served, ...styles.outputFiles, ...(reports?.outputFiles ?? [])])
    const maps = new Map(withLeanMaps(outputs.filter(([name]) => name.endsWith('.map'))))
    const files = new Map([...assets.emitted, ...outputs.filter(([name]) => !name.endsWith('.map'))])
    const valueDecoder = metafileKey(root, runtimeModule(runtime, 'shared/protocol/decode-values.ts'))
    const tables = { sources, groups, styles, reports: reports?.assets, basePath, application: nameOfProject(root) }
    const parts = { metafile: browser.metafile, entry, valueDecoder, ...tables }
    const buildId = buildIdOf(files, serverFiles, reports === undefined ? new Map() : recorderFile(reports))
    const manifest = { ...assetManifest(buildId, parts), integrity: integrityOf(files, basePath) }
    const info: BuildInfo = { inputHash: inputs.hash, buildId: manifest.buildId, tools: toolVersions(root) }
    // Not part of the build id, which is in its name; its content follows from hashed content.
    files.set(basename(segmentFilesPath(manifest.buildId)), segmentList(manifest))
    const publicFiles = await Promise.all(inOrder(files).map(([name, contents]) => compress(name, contents)))
    const serverScripts = await Promise.all(
      inOrder(serverFiles).flatMap(([name, contents]) => (name.endsWith('.js') ? [weigh(name, contents)] : [])),
    )

    await folder.write(within('public', new Map(publicFiles.flatMap((file) => [...compressedForms(file)]))))
    await folder.write(within('maps', nameBrowserMaps(maps)))
    await folder.write(
      new Map([
        ['server/main.js', SERVER_MAIN],
        ['manifest.json', JSON.stringify(manifest, undefined, 2)],
        [BUILD_INFO, JSON.stringify(info, undefined, 2)],
        [LICENCES, licenceList(bundledLicences(root, [browser.metafile, server.metafile]))],
      ]),
    )
    const names = publicFiles.flatMap((file) => [...compressedForms(file).keys()])
    await evaluated
    await folder.keepFormer({ buildId: manifest.buildId, names, now: Date.now(), keepMs })
    await folder.publish()

    const warnings = [...browser.warnings, ...server.warnings, ...styles.warnings]
    const sizes = sizeSections(publicFiles, serverScripts, chunkNotes(browser.metafile, server.metafile))
    return {
      manifest,
      sizes,
      async analyze() {
        const { analyzeBundle } = await import('./output/analyze-bundle.ts')
        const ofFiles = new Map(sizes.flatMap(({ files: listed }) => listed.map((file) => [file.name, file] as const)))
        const metafiles = [browser.metafile, ...(reports === undefined ? [] : [reports.metafile])] as const
        return analyzeBundle({ options, manifest, metafiles, entry, sources, sizes: ofFiles })
      },
      warnings: [...facts.narrowRules, await describeMessages(warnings, 'warning')].join('\n\n').trim(),
    }
  } finally {
    await folder.discard()
  }
}

function byName(files: readonly OutputFile[]): (readonly [name: string, contents: Uint8Array])[] {
  return files.map(({ path, contents }) => [basename(path), contents] as const)
}

function withLeanMaps(files: readonly (readonly [name: string, contents: Uint8Array])[]) {
  return files.map(([name, contents]) =>
    name.endsWith('.map') ? ([name, withoutPackageTexts(contents)] as const) : ([name, contents] as const),
  )
}

/** Milliseconds. @throws {BuildFault} for an invalid `KEEP_ASSETS_DAYS`. */
function keepingTime(env: Readonly<Record<string, string | undefined>>): number {
  try {
    return readKeepAssetsDays(env) * DAY_MS
  } catch (error) {
    throw error instanceof ConfigError ? new BuildFault(error.message) : error
  }
}

/** Plugins of bundles for the server: of modules that run where they are, and of those that are copied into the build. */
function serverPlugins(context: BundleContext, shared: readonly Plugin[], urls: FileUrls) {
  const around = (rewriting: Plugin): readonly Plugin[] => [
    urls.links,
    ...pluginsOf(context.customization ?? {}, 'server'),
    rewriting,
    ...shared,
    serverPackages(context),
  ]
  const inPlace = around(urls.server({ waits: false, copyOf: async () => undefined }))
  const copies = createServerCopies(context, () => [createLookUpCache().plugin, ...inCopies()])
  const inCopies = (): readonly Plugin[] => around(urls.server({ waits: true, ...copies }))
  return { inPlace, copies, inCopies }
}

function buildServer(
  context: BundleContext,
  plugins: readonly Plugin[],
): Promise<BuildResult & { readonly metafile: Metafile }> {
  const runtime = context.runtime ?? OWN_RUNTIME
  const entries = {
    [SERVER_ENTRY]: runtimeModule(runtime, 'server/main.ts'),
    [HANDLER_ENTRY]: runtimeModule(runtime, 'server/handler.ts'),
    [EXPORT_ENTRY]: runtimeModule(runtime, 'server/export-site.ts'),
  }
  return build({ ...nodeOptions(context, entries, [createLookUpCache().plugin, ...plugins]), metafile: true })
}

/** The browser's scripts, checked for server code. */
async function buildBrowser(
  context: BundleContext,
  shared: readonly Plugin[],
  urls: FileUrls,
  compress: Compressor,
): Promise<BuildResult & { readonly metafile: Metafile; readonly served: readonly OutputFile[] }> {
  const { root, defines, runtime = OWN_RUNTIME } = context
  const wall = createServerWall(context)
  const readable = { 'process.env.NODE_ENV': '"production"', ...defines }
  const plugins = [
    createLookUpCache().plugin,
    urls.links,
    closedEnv(root, readable),
    ...pluginsOf(context.customization, 'browser'),
    urls.browser,
    ...shared,
    wall.plugin,
  ]
  const built = await build({ ...browserOptions(context, plugins), metafile: true }).catch(async (error: unknown) => {
    const violations = wall.violations()
    throw violations.length === 0 ? error : new BuildFault([...violations, await describeFault(error)].join('\n\n'))
  })
  if (wall.violations().length > 0) throw new BuildFault(wall.violations().join('\n\n'))
  for (const key of Object.keys(built.metafile.inputs)) {
    if (key.startsWith(`${ACTION_REFERENCES}:`)) continue
    const rule = serverOnly(runtime, resolve(root, key))
    if (rule !== undefined) throw new BuildFault(`Server code is in the browser bundle: ${key} is ${rule}.`)
  }
  const served = (built.outputFiles ?? []).filter(({ path }) => {
    const script = displayPath(root, path).replace(/\.map$/, '')
    return !shapesChunksOnly(built.metafile.outputs[script]?.entryPoint)
  })
  startCompressing(served, compress)
  return { ...built, served }
}

/** While other bundles are made. Their maps are not served. */
function startCompressing(files: readonly OutputFile[], compress: Compressor): void {
  for (const { path, contents } of files.toSorted((a, b) => b.contents.length - a.contents.length)) {
    if (!path.endsWith('.map')) void compress(basename(path), contents)
  }
}

/** Depends only on contents and names: not on time, place or machine. */
function buildIdOf(...folders: readonly ReadonlyMap<string, Uint8Array>[]): string {
  const parts = folders.flatMap((files) =>
    inOrder(files).flatMap(([name, contents]) => (name.endsWith('.map') ? [] : [name, contents])),
  )
  return contentHash(...parts).slice(0, BUILD_ID_LENGTH)
}

/** Subresource Integrity of each script, by its public path. */
function integrityOf(files: ReadonlyMap<string, Uint8Array>, basePath: string): Record<string, string> {
  const scripts = inOrder(files).filter(([name]) => name.endsWith('.js'))
  return Object.fromEntries(
    scripts.map(([name, contents]) => [basePath + PUBLIC_PATH + name, `sha256-${hash('sha256', contents, 'base64')}`]),
  )
}

/** Documents contain it inline; no file does. */
function recorderFile({ assets }: BuiltReports): ReadonlyMap<string, Uint8Array> {
  return new Map([['recorder.js', new TextEncoder().encode(assets.recorder)]])
}

/** The part of the manifest that the client router reads. */
function segmentList({ segments }: AssetManifest): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(encodeSegmentFiles(segments)))
}

function inOrder<Value>(files: ReadonlyMap<string, Value>): readonly [string, Value][] {
  return [...files].toSorted(([a], [b]) => (a < b ? -1 : 1))
}

function within(folder: string, files: ReadonlyMap<string, Uint8Array>): ReadonlyMap<string, Uint8Array> {
  return new Map([...files].map(([name, contents]) => [`${folder}/${name}`, contents]))
}

function nameOfProject(root: string): string | undefined {
  const file = join(root, 'package.json')
  const { name }: { name?: unknown } = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  return typeof name === 'string' && name !== '' ? name : undefined
}

function toolVersions(root: string): Record<string, string> {
  const react: { version: string } = createRequire(join(root, 'package.json'))('react/package.json')
  return { node: process.versions.node, esbuild: esbuildVersion, react: react.version }
}
