import { resolve } from 'node:path'
import type { BuildResult, Metafile } from 'esbuild'
import { BuildFault } from '../../build/build-fault.ts'
import { displayPath } from '../../build/build-options.ts'
import { cssFiles } from '../../build/assets/css-files.ts'
import { PACKAGE_NAMES } from '../../build/esbuild-messages.ts'
import { packageStamp } from '../../build/resolve/package-stamp.ts'
import { isPackageFile } from '../../build/runtime.ts'
import { createServerWall, type ServerWall } from '../../build/sides/server-wall.ts'
import type { BundleCache } from './bundle-cache.ts'
import type { DevContexts } from './dev-contexts.ts'
import { bundleVendors, importedPackageFiles, type VendorBundle } from './vendor-bundle.ts'

type Inputs = Metafile['inputs']

/** The modules of pages. Their bundle is never served: it proves that the sources fit together. */
export interface BrowserGraph {
  /** As one bundle of the project's modules and of packages would have it. */
  readonly metafile: Metafile
  readonly warnings: BuildResult['warnings']
  readonly vendors: VendorBundle
}

/** The project's part of it. */
type OwnModules = Omit<BrowserGraph, 'vendors'>

/** The bundle of packages that was made last, for the next build. */
export interface VendorMemo {
  last?: { readonly key: string; readonly vendors: VendorBundle }
}

/** Where bundles of packages are cached: in memory and on disk. */
export interface PackageCaches {
  readonly vendors: VendorMemo
  readonly bundles: BundleCache
  onWork(work: 'packages'): void
}

/**
 * Bundles the project's own modules of pages.
 * @throws {BuildFault} for server code that they import, else esbuild's failure.
 */
export async function bundleOwnModules(contexts: DevContexts): Promise<OwnModules> {
  const { browser, urls, wall } = contexts
  urls.begin()
  return behind(wall, browser.rebuild().finally(urls.settle))
}

/**
 * Bundles the packages that they import, unless the last bundle is of the same ones, and checks the names that are imported.
 * @param graph of `bundleOwnModules`, or an earlier one with its packages.
 * @throws as `bundleOwnModules`.
 */
export async function addPackages(
  { context, browser, packageNames, wall, ...parts }: DevContexts,
  graph: BrowserGraph | OwnModules,
  caches: PackageCaches,
): Promise<BrowserGraph> {
  if ('vendors' in graph) return graph
  const { root } = context
  const files = importedPackageFiles(root, graph.metafile.inputs)
  const key = JSON.stringify([files, packageStamp(root)])
  const { last } = caches.vendors
  const vendors = last?.key === key ? last.vendors : await bundlePackages({ context, ...parts }, graph, files, caches)
  caches.vendors.last = { key, vendors }
  const isChecked = files.every((file) => sameNames(packageNames.get(file), vendors.namesOf(file)))
  packageNames.clear()
  for (const file of files) packageNames.set(file, vendors.namesOf(file))
  const { metafile, warnings } = isChecked ? graph : await behind(wall, browser.rebuild())
  return { metafile: { ...metafile, inputs: joinInputs(root, metafile.inputs, vendors.inputs) }, warnings, vendors }
}

function sameNames(known: readonly string[] | undefined, found: readonly string[] | undefined): boolean {
  return known?.join() === found?.join()
}

function bundlePackages(
  { context, urls, assets, modules }: Pick<DevContexts, 'context' | 'urls' | 'assets' | 'modules'>,
  { metafile: { inputs } }: OwnModules,
  files: readonly string[],
  { bundles, onWork }: PackageCaches,
): Promise<VendorBundle> {
  const { root, basePath } = context
  const wall = createServerWall(context, (packages) => joinInputs(root, inputs, packages))
  const plugins = [urls.links, urls.browser, assets.plugin, cssFiles(root, modules), wall.plugin]
  const walled: BundleCache = { through: (parts, make) => bundles.through(parts, () => behind(wall, make())) }
  return bundleVendors(files, { root, basePath, bundles: walled, plugins, onWork })
}

/** What has reached the wall is reported first: it may be why the rest has failed. */
async function behind<Result>(wall: ServerWall, building: Promise<Result>): Promise<Result> {
  const [built] = await Promise.allSettled([building])
  if (wall.violations().length > 0) throw new BuildFault(wall.violations().join('\n\n'))
  if (built.status === 'rejected') throw built.reason
  return built.value
}

/** The bundle of packages has modules of its own, which no module of the project leads to. */
function joinInputs(root: string, own: Inputs, packages: Inputs): Inputs {
  const joined = new Map<string, Inputs[string]>()
  for (const [key, input] of Object.entries(own)) {
    if (key.startsWith(`${PACKAGE_NAMES}:`)) continue
    joined.set(key, { ...input, imports: input.imports.map((one) => linkedImport(root, one)) })
  }
  for (const { imports } of joined.values()) {
    for (const { path } of imports) {
      const input = joined.has(path) ? undefined : packages[path]
      if (input !== undefined) joined.set(path, input)
    }
  }
  return Object.fromEntries(joined)
}

type Import = Inputs[string]['imports'][number]

function linkedImport(root: string, found: Import): Import {
  const file = linkedFile(root, found)
  if (file === undefined) return found
  const { external: _, ...rest } = found
  return { ...rest, path: displayPath(root, file) }
}

/** The package's file, where an import was left to the bundle of packages. */
function linkedFile(root: string, { path, external }: Import): string | undefined {
  if (path.startsWith(`${PACKAGE_NAMES}:`)) return resolve(root, path.slice(PACKAGE_NAMES.length + 1))
  return external === true && isPackageFile(path) ? path : undefined
}
