import type { Metafile } from 'esbuild'
import type { AssetManifest, ReportAssets, SegmentAssets } from '../../../src/server/assets/manifest.ts'
import { actionSegments } from './action-segments.ts'
import { PUBLIC_PATH } from '../build-options.ts'
import { shapesChunksOnly } from '../bundle-options.ts'
import type { BuiltStyles } from '../assets/build-styles.ts'
import type { RouteSources } from '../project/inspect-application.ts'
import { SERVER_KINDS } from '../project/table-modules.ts'
import type { StyleGroups } from '../assets/style-groups.ts'

/** Sources of the manifest. */
interface ManifestParts {
  /** Of the browser's scripts. */
  readonly metafile: Metafile
  /** Key of the browser's entry in that metafile. */
  readonly entry: string
  /** Key of the module that browsers load for documents with values beyond JSON. */
  readonly valueDecoder: string
  readonly sources: RouteSources
  readonly groups: StyleGroups
  readonly styles: Pick<BuiltStyles, 'outputs'>
  readonly reports?: ReportAssets | undefined
  /** Of the build; every public path begins with it. */
  readonly basePath?: string | undefined
  /** Name of the application's package, if it has one. */
  readonly application?: string | undefined
}

/**
 * Lists the files that a browser needs for each module of the table, besides the entry and its imports.
 */
export function assetManifest(
  buildId: string,
  { metafile, entry, valueDecoder, sources, groups, styles, reports, basePath = '', application }: ManifestParts,
): AssetManifest {
  const publicPaths = (...keys: readonly (string | undefined)[]): string[] => publicPathsBelow(basePath, keys)
  const outputs = new Map(Object.entries(metafile.outputs).map(([key, output]) => [output.entryPoint, key]))
  const entryKey = outputs.get(entry) ?? ''
  const entryImports = staticImports(metafile, entryKey)
  const loaded = new Set([entryKey, ...entryImports])
  const stylesheets = (names: StyleGroups['entry']) => names.flatMap((group) => publicPaths(styles.outputs.get(group)))

  const beyondEntry = (chunk: string) => staticImports(metafile, chunk).filter((key) => !loaded.has(key))
  const decoder = outputs.get(valueDecoder)

  function describe(pattern: string, kind: string, source: string): SegmentAssets {
    const chunk = outputs.get(source)
    if (chunk === undefined) throw new Error(`No chunk for ${source}, the ${kind} of '${pattern}'`)
    return { scripts: publicPaths(chunk, ...beyondEntry(chunk)), styles: stylesheets(groups.modules.get(source) ?? []) }
  }

  const segments: Record<string, Record<string, SegmentAssets>> = {}
  for (const [pattern, kinds] of Object.entries(sources)) {
    const browserKinds = Object.entries(kinds).filter(([kind]) => !SERVER_KINDS.has(kind))
    if (browserKinds.length === 0) continue
    segments[pattern] = Object.fromEntries(
      browserKinds.map(([kind, source]) => [kind, describe(pattern, kind, source)]),
    )
  }
  return {
    buildId,
    ...(application === undefined ? {} : { application }),
    ...(basePath === '' ? {} : { basePath }),
    ...(entryKey === '' ? {} : { entry: publicPaths(entryKey)[0] ?? '' }),
    entryImports: publicPaths(...entryImports),
    entryStyles: stylesheets(groups.entry),
    ...(reports === undefined ? {} : { reports }),
    ...(decoder === undefined ? {} : { valueDecoder: publicPaths(decoder, ...beyondEntry(decoder)) }),
    segments,
    actionSegments: actionSegments(metafile, entry, sources),
  }
}

/** Every chunk that must be loaded before this one runs, breadth first; without the chunk itself. */
export function staticImports(metafile: Metafile, chunk: string): readonly string[] {
  const reached = new Set([chunk])
  for (const key of reached) {
    for (const { path, kind, external } of metafile.outputs[key]?.imports ?? []) {
      if (kind === 'import-statement' && !external) reached.add(path)
    }
  }
  reached.delete(chunk)
  return [...reached].filter((key) => !shapesChunksOnly(metafile.outputs[key]?.entryPoint))
}

function publicPathsBelow(basePath: string, keys: readonly (string | undefined)[]): string[] {
  return keys.flatMap((key) =>
    key === undefined ? [] : [basePath + PUBLIC_PATH + key.slice(key.lastIndexOf('/') + 1)],
  )
}
