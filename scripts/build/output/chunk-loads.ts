import type { Metafile } from 'esbuild'
import type { AssetManifest, SegmentAssets } from '../../../src/server/assets/manifest.ts'
import type { OwnerOf } from './module-owners.ts'

/** When browsers load a chunk. */
export interface ChunkLoads {
  /** `first`: with each document. `later`: each page may load it once it is alive. */
  readonly everyPage?: 'first' | 'later'
  /** Routes whose documents, and navigations to them, load it; none if every page does. */
  readonly routes: readonly string[]
  /** Routes that may load it later, by an `import()`. */
  readonly laterRoutes: readonly string[]
  /** Fallbacks that load it when they are shown: `notFound of /`. */
  readonly fallbacks: readonly string[]
  /** The modules and packages with an `import()` that loads it. */
  readonly importedBy: readonly string[]
}

/** What browsers load, by file name. */
interface BundleLoads {
  /** Scripts of each document. */
  readonly everyPage: readonly string[]
  /** By the keys of pages in the table: what their documents add. */
  readonly routes: ReadonlyMap<string, { readonly scripts: readonly string[]; readonly styles: readonly string[] }>
  /** @param chunk its file name. */
  of(chunk: string): ChunkLoads
}

/** Parts of a build. */
interface LoadParts {
  readonly manifest: AssetManifest
  readonly metafile: Metafile
  /** Keys of the table's modules: the router imports them when it shows them. */
  readonly table: readonly string[]
  readonly owners: OwnerOf
}

const OF_ROUTES: ReadonlySet<string> = new Set(['page', 'layout', 'loading'])

interface Mutable {
  everyPage?: 'first' | 'later'
  readonly routes: Set<string>
  readonly laterRoutes: Set<string>
  readonly fallbacks: Set<string>
  readonly importedBy: Set<string>
}

/** Works out from a build's manifest and imports when each chunk is loaded. */
export function chunkLoads({ manifest, metafile, table, owners }: LoadParts): BundleLoads {
  const { entry, entryImports, entryStyles, segments } = manifest
  const everyPage = [...(entry === undefined ? [] : [entry]), ...entryImports].map(fileName)
  const lazy = lazyImports(metafile, new Set(table), owners)
  const loads = new Map<string, Mutable>()
  const of = (chunk: string): Mutable => {
    const known = loads.get(chunk) ?? emptyLoads()
    loads.set(chunk, known)
    return known
  }

  for (const chunk of everyPage) of(chunk).everyPage = 'first'
  for (const chunk of laterOf(everyPage, lazy)) of(chunk).everyPage ??= 'later'
  const sdk = manifest.reports?.sdk
  if (sdk !== undefined) {
    const reports = of(fileName(sdk))
    reports.everyPage = 'later'
    reports.importedBy.add('error reports')
  }
  const isEverywhere = (chunk: string): boolean => of(chunk).everyPage !== undefined

  const routes = new Map<string, { scripts: readonly string[]; styles: readonly string[] }>()
  for (const [route, kinds] of Object.entries(segments)) {
    for (const [kind, { scripts }] of Object.entries(kinds)) {
      if (OF_ROUTES.has(kind)) continue
      for (const chunk of scripts.map(fileName)) of(chunk).fallbacks.add(`${kind} of ${route}`)
    }
    if (kinds['page'] === undefined) continue
    const files = filesOf(route, segments)
    const scripts = [...files.scripts].filter((chunk) => !everyPage.includes(chunk))
    for (const chunk of scripts) of(chunk).routes.add(route)
    for (const chunk of laterOf(scripts, lazy)) {
      if (!isEverywhere(chunk) && !of(chunk).routes.has(route)) of(chunk).laterRoutes.add(route)
    }
    routes.set(route, { scripts, styles: [...new Set([...entryStyles.map(fileName), ...files.styles])] })
  }
  for (const [, targets] of lazy) {
    for (const { chunks, importer } of targets) for (const chunk of chunks) of(chunk).importedBy.add(importer)
  }
  return { everyPage, routes, of: (chunk) => frozen(of(chunk)) }
}

function emptyLoads(): Mutable {
  return { routes: new Set(), laterRoutes: new Set(), fallbacks: new Set(), importedBy: new Set() }
}

function frozen({ everyPage, routes, laterRoutes, fallbacks, importedBy }: Mutable): ChunkLoads {
  return {
    ...(everyPage === undefined ? {} : { everyPage }),
    routes: [...routes],
    laterRoutes: [...laterRoutes],
    fallbacks: [...fallbacks],
    // A chunk that comes with a document is not loaded again.
    importedBy: everyPage === 'first' ? [] : [...importedBy],
  }
}

/** Names of the files of a page, its layouts and their loading states. */
function filesOf(
  route: string,
  segments: Readonly<Record<string, Readonly<Record<string, SegmentAssets>>>>,
): { readonly scripts: ReadonlySet<string>; readonly styles: ReadonlySet<string> } {
  const parts = route.split('/')
  const chain = new Set(parts.map((_, at) => parts.slice(0, at + 1).join('/') || '/'))
  const assets = [...chain].flatMap((key) => [segments[key]?.['layout'] ?? [], segments[key]?.['loading'] ?? []].flat())
  assets.push(...[segments[route]?.['page'] ?? []].flat())
  return {
    scripts: new Set(assets.flatMap(({ scripts }) => scripts.map(fileName))),
    styles: new Set(assets.flatMap(({ styles }) => styles.map(fileName))),
  }
}

/** By chunk: what each of its `import()` loads, and who calls it. */
type LazyImports = ReadonlyMap<string, readonly { readonly chunks: readonly string[]; readonly importer: string }[]>

function lazyImports({ inputs, outputs }: Metafile, table: ReadonlySet<string>, owners: OwnerOf): LazyImports {
  const chunkByEntry = new Map(Object.entries(outputs).map(([key, { entryPoint }]) => [entryPoint, key]))
  const found = new Map<string, { chunks: readonly string[]; importer: string }[]>()
  for (const [chunk, output] of Object.entries(outputs)) {
    if (!chunk.endsWith('.js')) continue
    for (const module of Object.keys(output.inputs)) {
      for (const { path, kind } of inputs[module]?.imports ?? []) {
        const target = kind === 'dynamic-import' && !table.has(path) ? chunkByEntry.get(path) : undefined
        // Stand-ins for server modules are empty, and no browser loads them.
        if (target === undefined || outputs[target]?.bytes === 0) continue
        if (!output.imports.some((one) => one.path === target)) continue
        const list = found.get(fileName(chunk)) ?? []
        list.push({ chunks: staticChunks(outputs, target), importer: owners(module)?.name ?? module })
        found.set(fileName(chunk), list)
      }
    }
  }
  return found
}

/** Names of a chunk and of all that must be loaded before it. */
function staticChunks(outputs: Metafile['outputs'], chunk: string): readonly string[] {
  const reached = new Set([chunk])
  for (const key of reached) {
    for (const { path, kind, external } of outputs[key]?.imports ?? []) {
      if (kind === 'import-statement' && external !== true) reached.add(path)
    }
  }
  return [...reached].map(fileName)
}

/** All chunks that these may load later, directly or indirectly. */
function laterOf(chunks: readonly string[], lazy: LazyImports): ReadonlySet<string> {
  const reached = new Set(chunks)
  for (const chunk of reached) {
    for (const target of lazy.get(chunk) ?? []) for (const one of target.chunks) reached.add(one)
  }
  for (const chunk of chunks) reached.delete(chunk)
  return reached
}

function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
