/**
 * The browser's files of each module of the table, in the format that the client router reads, so that it can load code
 * and styles of a page together with its data. Version 1.
 *
 * One JSON object: `files` has every file once, by its name below `/_m/assets/`; a module is a list of indices into it,
 * in the manifest's order. A name that ends in `.css` is a stylesheet, any other a script.
 */

import { withBasePath } from '../base-path.ts'

/** Increased with every change of the format. */
const SEGMENT_FILES_VERSION = 1

const PREFIX = '/_m/assets/'

/** The JSON object. */
interface SegmentFilesRecord {
  readonly v: typeof SEGMENT_FILES_VERSION
  readonly files: readonly string[]
  /** By key of the table's entry and kind of module. */
  readonly segments: Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>
}

/** The files that one module of a segment needs in the browser, besides the entry and its imports. */
export interface ModuleFiles {
  /** Public paths: the chunk itself, then its static imports. */
  readonly scripts: readonly string[]
  /** Public paths, in the order of the cascade. */
  readonly styles: readonly string[]
}

/** Finds the files of a module. */
export interface SegmentFiles {
  /**
   * @param key of the table's entry, groups included.
   * @param kind `page`, `layout`, `loading`, `error`, `notFound`, `forbidden` or `unauthorized`.
   * @returns `undefined` if the entry has no such module.
   */
  of(key: string, kind: string): ModuleFiles | undefined
  /** Whether any module needs this file. @param path public path; not of the document's own stylesheets. */
  names(path: string): boolean
}

/** Public path of the file; one for each build. */
export function segmentFilesPath(buildId: string): string {
  return withBasePath(PREFIX) + `segments-${buildId}.json`
}

/** @param segments as in the asset manifest: module files by key and kind. */
export function encodeSegmentFiles(
  segments: Readonly<Record<string, Readonly<Record<string, ModuleFiles>>>>,
): SegmentFilesRecord {
  const indices = new Map<string, number>()
  const indexOf = (path: string): number => {
    const [, name = path] = path.split(PREFIX)
    const index = indices.get(name) ?? indices.size
    indices.set(name, index)
    return index
  }
  const mapped = Object.entries(segments).map(([key, kinds]) => {
    const modules = Object.entries(kinds).map(
      ([kind, { scripts, styles }]) => [kind, [...scripts, ...styles].map(indexOf)] as const,
    )
    return [key, Object.fromEntries(modules)] as const
  })
  return { v: SEGMENT_FILES_VERSION, files: [...indices.keys()], segments: Object.fromEntries(mapped) }
}

/**
 * Decodes the parsed JSON.
 * @throws {Error} for anything but a record of this version.
 */
export function decodeSegmentFiles(record: unknown): SegmentFiles {
  const { v, files, segments } = (record ?? {}) as Partial<SegmentFilesRecord>
  if (v !== SEGMENT_FILES_VERSION || !Array.isArray(files) || !segments) {
    throw new Error('Not a list of segment files')
  }
  const paths = files.map((name) => (String(name).startsWith('/') ? String(name) : withBasePath(PREFIX) + String(name)))
  const known = new Set(paths)
  return {
    of(key, kind) {
      const indices = Object.hasOwn(segments, key) ? segments[key]?.[kind] : undefined
      if (!Array.isArray(indices)) return undefined
      const needed = indices.flatMap((index) => paths[index] ?? [])
      return {
        scripts: needed.filter((path) => !path.endsWith('.css')),
        styles: needed.filter((path) => path.endsWith('.css')),
      }
    },
    names: (path) => known.has(path),
  }
}
