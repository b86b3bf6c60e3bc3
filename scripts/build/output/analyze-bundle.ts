import type { Metafile } from 'esbuild'
import type { AssetManifest } from '../../../src/server/assets/manifest.ts'
import { browserModules } from '../project/table-modules.ts'
import type { BuildOptions } from '../build-options.ts'
import { shapesChunksOnly } from '../bundle-options.ts'
import { chunkLoads, type ChunkLoads } from './chunk-loads.ts'
import { createImportChains, type ChainStarts, type ChainTo } from './import-chains.ts'
import type { RouteSources } from '../project/inspect-application.ts'
import { createModuleOwners, type ModuleOwner, type OwnerOf } from './module-owners.ts'

/** Bytes of files: as they are, and compressed. */
export interface FileSizes {
  readonly raw: number
  readonly gzip: number
  readonly brotli: number
}

/** A package or a module of the project, in one chunk. */
export interface ChunkPart {
  /** The package, or the module's path in the application's folder or the project. */
  readonly name: string
  /** Of the package. */
  readonly version?: string
  /** Bytes in the chunk, minified and not compressed. */
  readonly bytes: number
  /** How many modules these are. */
  readonly modules: number
  /** Why it is there: the shortest chain of imports to it. Begins with the browser's entry or a module of the table. */
  readonly chain: readonly string[]
}

/** One script for browsers. */
export interface AnalyzedChunk extends FileSizes {
  readonly name: string
  readonly loads: ChunkLoads
  /** The largest first. */
  readonly parts: readonly ChunkPart[]
  /** Bytes that belong to no part: the bundler's imports, exports and helpers. */
  readonly bundlerBytes: number
}

/** What a browser loads before a document of this route is alive. */
interface AnalyzedRoute {
  /** Its key in the table. */
  readonly route: string
  readonly scripts: FileSizes
  readonly styles: FileSizes
  /** Names of its chunks, those of every page included. */
  readonly chunks: readonly string[]
}

/** A package that browsers get from more than one folder. */
export interface DuplicatePackage {
  readonly name: string
  readonly copies: readonly DuplicateCopy[]
}

/** One of several copies. */
interface DuplicateCopy extends Pick<ChunkPart, 'version' | 'bytes' | 'chain'> {
  /** In the project. */
  readonly folder: string
  readonly chunks: readonly string[]
}

/** What is in the browser's scripts, and why. Names modules, and contains nothing of their text. */
export interface BundleAnalysis {
  /** Of this format. */
  readonly version: 1
  readonly buildId: string
  /** The scripts of every page: part of each route's. */
  readonly everyPage: FileSizes
  /** The largest first load first. */
  readonly routes: readonly AnalyzedRoute[]
  /** The largest first. */
  readonly chunks: readonly AnalyzedChunk[]
  readonly duplicates: readonly DuplicatePackage[]
}

/** Results of a build that an analysis reads. */
interface AnalysisInput {
  readonly options: Pick<BuildOptions, 'root' | 'app' | 'runtime'>
  readonly manifest: AssetManifest
  /** Of the browser's scripts, then of other bundles for browsers. */
  readonly metafiles: readonly [Metafile, ...Metafile[]]
  /** Key of the browser's entry in the first of them. */
  readonly entry: string
  readonly sources: RouteSources
  /** Of all public files, by name. */
  readonly sizes: ReadonlyMap<string, FileSizes>
}

const NOTHING: FileSizes = { raw: 0, gzip: 0, brotli: 0 }

/** Says what is in each chunk, which routes load it, and which imports have brought it there. */
export function analyzeBundle(input: AnalysisInput): BundleAnalysis {
  const { options, manifest, metafiles, entry, sources, sizes } = input
  const owners = createModuleOwners(options)
  const table = browserModules(sources)
  const loads = chunkLoads({ manifest, metafile: metafiles[0], table, owners })

  const chunks: AnalyzedChunk[] = []
  const copies = new Map<string, Map<string, DuplicateCopy>>()
  const scripts = metafiles.flatMap((metafile, at) => scriptsOf(metafile, at === 0 ? { entry, table } : undefined))
  for (const { path, output, chainTo } of scripts) {
    const name = fileName(path)
    const owned = partsOf(output.inputs, owners, chainTo)
    const inModules = owned.reduce((sum, { part }) => sum + part.bytes, 0)
    for (const { owner, part } of owned) addCopy(copies, owner, part, name)
    chunks.push({
      name,
      ...(sizes.get(name) ?? { ...NOTHING, raw: output.bytes }),
      loads: loads.of(name),
      parts: owned.map(({ part }) => part),
      bundlerBytes: output.bytes - inModules,
    })
  }

  const everyPage = loads.everyPage
  const routes = [...loads.routes].map(([route, { scripts, styles }]): AnalyzedRoute => {
    const names = [...everyPage, ...scripts]
    return { route, scripts: sumOf(names, sizes), styles: sumOf(styles, sizes), chunks: names }
  })
  return {
    version: 1,
    buildId: manifest.buildId,
    everyPage: sumOf(everyPage, sizes),
    routes: routes.toSorted((a, b) => b.scripts.brotli - a.scripts.brotli || compare(a.route, b.route)),
    chunks: chunks.toSorted((a, b) => b.raw - a.raw || compare(a.name, b.name)),
    duplicates: [...copies]
      .filter(([, folders]) => folders.size > 1)
      .map(([name, folders]) => ({ name, copies: [...folders.values()] })),
  }
}

interface Script {
  readonly path: string
  readonly output: Metafile['outputs'][string]
  readonly chainTo: ChainTo
}

/** @param starts of chains. Default: each script's own entry. */
function scriptsOf(metafile: Metafile, starts: ChainStarts | undefined): readonly Script[] {
  const ofBundle = starts && createImportChains(metafile, starts)
  return Object.entries(metafile.outputs)
    .filter(([path, { entryPoint }]) => path.endsWith('.js') && !shapesChunksOnly(entryPoint))
    .map(([path, output]) => {
      const chainTo = ofBundle ?? createImportChains(metafile, { entry: output.entryPoint ?? '', table: [] })
      return { path, output, chainTo }
    })
}

interface OwnedPart {
  readonly owner: ModuleOwner
  readonly part: ChunkPart
}

function partsOf(
  inputs: Metafile['outputs'][string]['inputs'],
  owners: OwnerOf,
  chainTo: ChainTo,
): readonly OwnedPart[] {
  const groups = new Map<string, { owner: ModuleOwner; bytes: number; modules: string[] }>()
  for (const [module, { bytesInOutput }] of Object.entries(inputs)) {
    const owner = owners(module)
    if (owner === undefined || bytesInOutput === 0) continue
    const group = groups.get(owner.key) ?? { owner, bytes: 0, modules: [] }
    group.bytes += bytesInOutput
    group.modules.push(module)
    groups.set(owner.key, group)
  }
  return [...groups.values()]
    .toSorted((a, b) => b.bytes - a.bytes || compare(a.owner.name, b.owner.name))
    .map(({ owner, bytes, modules }) => {
      const { name, version } = owner
      const chain = ownersOf(chainTo(modules), owners)
      const known = version === undefined ? {} : { version }
      return { owner, part: { name, ...known, bytes, modules: modules.length, chain } }
    })
}

/** Names each owner once: a package's own imports say nothing to those who use it. */
function ownersOf(modules: readonly string[], owners: OwnerOf): readonly string[] {
  const names = modules.flatMap((module) => owners(module)?.name ?? [])
  return names.filter((name, at) => name !== names[at - 1])
}

function addCopy(
  copies: Map<string, Map<string, DuplicateCopy>>,
  { folder, name, version }: ModuleOwner,
  { bytes, chain }: ChunkPart,
  chunk: string,
): void {
  if (folder === undefined) return
  const folders = copies.get(name) ?? new Map<string, DuplicateCopy>()
  const known = folders.get(folder)
  folders.set(folder, {
    folder,
    ...(version === undefined ? {} : { version }),
    bytes: bytes + (known?.bytes ?? 0),
    chain: known?.chain ?? chain,
    chunks: [...(known?.chunks ?? []), chunk],
  })
  copies.set(name, folders)
}

function sumOf(names: Iterable<string>, sizes: ReadonlyMap<string, FileSizes>): FileSizes {
  const sum = { ...NOTHING }
  for (const name of names) {
    const { raw, gzip, brotli } = sizes.get(name) ?? NOTHING
    sum.raw += raw
    sum.gzip += gzip
    sum.brotli += brotli
  }
  return sum
}

function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0
}
