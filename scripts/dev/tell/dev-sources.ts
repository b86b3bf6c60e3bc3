import { readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { join, sep } from 'node:path'
import type { DevFrame } from '../../../src/client/dev/dev-messages.ts'
import { PUBLIC_PATH } from '../../build/build-options.ts'
import { OWN_RUNTIME, type Runtime } from '../../build/runtime.ts'
import type { ModuleServer } from '../compile/module-server.ts'
import type { NewestBuild } from '../compile/newest-build.ts'
import { ownerByPath, type OwnerOf, type RawFrame } from './stack-frames.ts'

/** Options of the sources. */
export interface SourceOptions {
  /** The project. */
  readonly root: string
  /** The application's folder. */
  readonly app: string
  readonly runtime?: Runtime | undefined
}

/** Finds the sources of frames and of the route table's modules. */
interface DevSources {
  readonly ownerOf: OwnerOf
  /** Whether a browser has loaded this source, by its path in the project: pages may name only such files. */
  isServed(path: string): boolean
  /** Translates a position in a served module into one in its source; leaves all others unchanged. */
  locate(frame: RawFrame): RawFrame
  /** The loader of a segment. */
  loaderFrame(segment: string | undefined): DevFrame | undefined
  /** The page of a route, if a browser has loaded it. */
  pageFrame(route: string | undefined): DevFrame | undefined
}

export function createDevSources(
  { root, app, runtime = OWN_RUNTIME }: SourceOptions,
  { urls, served }: Pick<ModuleServer, 'urls' | 'served'>,
  { current, isInBrowser }: Pick<NewestBuild, 'current' | 'isInBrowser'>,
): DevSources {
  const pathOf = (file: string): string => urls.ownPath(URL.parse(file)?.pathname ?? '') ?? ''

  // For a module with actions, browsers have loaded references, and not the source that would be read here.
  const isServed = (path: string): boolean => served(path) !== undefined && isInBrowser(path)

  /** Position of a module of the route table. */
  function frameOf(route: string | undefined, kind: string, name: string): DevFrame | undefined {
    const sources = current()?.sources ?? {}
    const kinds = route !== undefined && Object.hasOwn(sources, route) ? sources[route] : undefined
    const file = kinds !== undefined && Object.hasOwn(kinds, kind) ? kinds[kind] : undefined
    return file === undefined
      ? undefined
      : { name: '', file, line: lineOf(join(root, file), name), column: 1, own: true }
  }

  return {
    isServed,
    ownerOf(file) {
      const path = pathOf(file)
      if (path.startsWith(`${PUBLIC_PATH}vendor/`)) {
        return ownerByPath(current()?.vendors.largestModule(path) ?? '') ?? 'packages'
      }
      if (file.startsWith(runtime.folder + sep) && !file.startsWith(app + sep)) return 'Millrace'
      return ownerByPath(file)
    },
    locate(frame) {
      const path = pathOf(frame.file)
      const key = path.startsWith(PUBLIC_PATH) ? urls.keyOf(path) : undefined
      const encoded = key === undefined ? undefined : INLINE_MAP.exec(served(key)?.code ?? '')?.[1]
      if (key === undefined || encoded === undefined) return frame
      const map = new SourceMap(JSON.parse(Buffer.from(encoded, 'base64').toString('utf8')))
      const entry = map.findEntry(frame.line - 1, frame.column - 1)
      if (!('originalLine' in entry)) return frame
      return { ...frame, file: join(root, key), line: entry.originalLine + 1, column: entry.originalColumn + 1 }
    },
    loaderFrame(segment) {
      const [, key, kind] = /^(.*)#(page|layout|guard)$/.exec(segment ?? '') ?? []
      if (kind === 'guard') return frameOf(key, 'guard', 'guard')
      return frameOf(key, kind === 'layout' ? 'layoutLoader' : 'loader', 'loader')
    },
    pageFrame(route) {
      const frame = frameOf(route, 'page', 'metadata')
      return frame !== undefined && isServed(frame.file) ? frame : undefined
    },
  }
}

/** The line that exports a name, from 1. */
function lineOf(file: string, name: string): number {
  try {
    const index = readFileSync(file, 'utf8')
      .split('\n')
      .findIndex((line) => line.startsWith('export') && line.includes(name))
    return Math.max(index, 0) + 1
  } catch {
    return 1
  }
}

const INLINE_MAP = /^\/\/# sourceMappingURL=data:application\/json;base64,(\S+)\s*$/m
