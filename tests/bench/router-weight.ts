import { join, relative } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import type { Metafile } from 'esbuild'
import { staticImports } from '../../scripts/build/output/asset-manifest.ts'
import { browserEntry, browserOptions, metafileKey, shapesChunksOnly } from '../../scripts/build/bundle-options.ts'
import { bundleReactAlone, PROJECT } from './bundle.ts'
import type { Measurement } from './measurement.ts'

const MOST_BYTES = 10_240 // over React itself: first load and everything that is loaded later
const GZIP_LEVEL = 9 // as the build does it

/** Folders of applications that are bundled to be weighed. Their own modules are not counted. */
const SMALLEST_APP = 'tests/bench/smallest-app'
const EVERY_HOOK = 'tests/bench/every-hook'

/** The runtime's scripts in a bundle, as keys of its metafile. */
interface RuntimeChunks {
  /** The entry and what it imports statically. */
  readonly first: readonly string[]
  /** What a browser can only come to by a dynamic import. */
  readonly later: readonly string[]
}

/**
 * All that a browser can ever load of the runtime, on a page that has links to follow: an application of one page,
 * bundled as the build does it, React included and then taken off. How the runtime is split makes no difference.
 */
export async function measureRouterWeight(): Promise<Measurement> {
  const [smallest, everyHook, react] = await Promise.all([
    weigh(SMALLEST_APP),
    weigh(EVERY_HOOK),
    bundleReactAlone().then(gzipped),
  ])
  const bytes = (count: number): string => `${count.toLocaleString('en')} B`
  return {
    name: 'whole router over React, gzip',
    value: smallest.first + smallest.later - react,
    unit: 'B',
    gate: { bound: '≤', limit: MOST_BYTES },
    detail:
      `first load ${bytes(smallest.first - react)}, later ${bytes(smallest.later)} in ${smallest.laterChunks} chunks; ` +
      `with every hook in use ${bytes(everyHook.first + everyHook.later - react)}`,
  }
}

/**
 * Tells the runtime's chunks from the application's. React's and the bundler's own are among the runtime's.
 * @param entry key of the entry's source.
 * @param own what the paths of the application's own modules start with.
 * @throws {Error} when nothing was built from the entry.
 */
export function runtimeChunks(metafile: Metafile, entry: string, own: readonly string[]): RuntimeChunks {
  const scripts = Object.entries(metafile.outputs).filter(
    ([key, { entryPoint }]) => key.endsWith('.js') && !shapesChunksOnly(entryPoint),
  )
  const start = scripts.find(([, { entryPoint }]) => entryPoint === entry)?.[0]
  if (start === undefined) throw new Error(`The bundle has no script for ${entry}.`)
  const first = [start, ...staticImports(metafile, start)]
  const isOwn = (source: string): boolean => own.some((path) => source.startsWith(path))
  const later = scripts.flatMap(([key, { inputs }]) => {
    const sources = Object.keys(inputs)
    return first.includes(key) || (sources.length > 0 && sources.every(isOwn)) ? [] : [key]
  })
  return { first, later }
}

/** Gzip bytes of an application's scripts, without its own modules. */
async function weigh(folder: string) {
  const context = { root: PROJECT, app: join(PROJECT, folder), mode: 'production', defines: {} } as const
  const { metafile, outputFiles } = await build({ ...browserOptions(context, []), metafile: true, write: false })
  const sizes = new Map(outputFiles.map(({ path, contents }) => [relative(PROJECT, path), gzipped(contents)]))
  const chunks = runtimeChunks(metafile, metafileKey(PROJECT, browserEntry(context)), [`${SMALLEST_APP}/page.tsx`])
  const total = (keys: readonly string[]): number => keys.reduce((sum, key) => sum + (sizes.get(key) ?? Number.NaN), 0)
  return { first: total(chunks.first), later: total(chunks.later), laterChunks: chunks.later.length }
}

function gzipped(script: Uint8Array): number {
  return gzipSync(script, { level: GZIP_LEVEL }).length
}
