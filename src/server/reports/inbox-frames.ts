/**
 * Places in the sources for frames of built files, by the maps that the build has left beside them. Keeps the last four
 * maps that were read: some megabytes each, and a page shows few files. A frame finds its map by its debug id, or by the
 * name of its file where the event names no ids.
 */
import { readdir, readFile, stat } from 'node:fs/promises'
import { SourceMap, type SourceMapPayload } from 'node:module'
import { join } from 'node:path'
import { debugIdOf } from '../../shared/reports/debug-id.ts'
import type { ReportEvent, ReportException, ReportFrame } from './inbox.ts'

const MOST_MAPS = 4
const MOST_MAP_BYTES = 33_554_432
const ASSET = /\/_m\/assets\/([\w.-]+\.js)$/ // a name without a slash: no event leads out of the folder

/** Shows frames in the sources where it can, and leaves others as they are. */
export type FrameResolver = (event: ReportEvent) => Promise<ReportEvent>

/** @param folder absolute path of the build's maps, named as their files with `.map`; without one, nothing is mapped. */
export function createFrameResolver(folder: string | undefined): FrameResolver {
  const maps = new Map<string, Promise<SourceMap | undefined>>()
  let files: Promise<ReadonlyMap<string, string>> | undefined

  async function nameOf({ file, debugId }: ReportFrame): Promise<string | undefined> {
    if (folder === undefined) return undefined
    // What has another id is another file, whatever it is called.
    if (debugId !== undefined) return (await (files ??= filesById(folder))).get(debugId)
    return ASSET.exec(file.replace(/[?#].*$/, ''))?.[1]
  }

  async function mapOf(frame: ReportFrame): Promise<SourceMap | undefined> {
    const name = await nameOf(frame)
    if (folder === undefined || name === undefined) return undefined
    const map = maps.get(name) ?? readMap(join(folder, `${name}.map`))
    maps.delete(name)
    maps.set(name, map)
    for (const oldest of maps.keys()) {
      if (maps.size <= MOST_MAPS) break
      maps.delete(oldest)
    }
    return map
  }

  async function resolveFrame({ debugId, ...frame }: ReportFrame): Promise<ReportFrame> {
    const { line, column } = frame
    if (line === undefined || column === undefined || line === 0) return frame
    const named = debugId === undefined ? frame : { ...frame, debugId }
    const origin = (await mapOf(named))?.findOrigin(line, column)
    if (origin === undefined || !('fileName' in origin)) return frame
    const source = origin.fileName.replace(/^(?:\.\.\/)+/, '')
    return {
      // Names of a minified file mean nothing, and the map knows names of places only, not of functions.
      function: '',
      file: source,
      line: origin.lineNumber,
      column: origin.columnNumber,
      inApp: !/(?:^|\/)node_modules\//.test(source),
      mapped: true,
    }
  }

  async function resolveException(exception: ReportException): Promise<ReportException> {
    return { ...exception, frames: await Promise.all(exception.frames.map(resolveFrame)) }
  }

  return async (event) => ({ ...event, exceptions: await Promise.all(event.exceptions.map(resolveException)) })
}

/** Names of scripts by their debug ids. */
async function filesById(folder: string): Promise<ReadonlyMap<string, string>> {
  const names = await readdir(folder).catch(() => [])
  const scripts = names.filter((name) => name.endsWith('.js.map')).map((name) => name.slice(0, -'.map'.length))
  return new Map(scripts.map((name) => [debugIdOf(name), name]))
}

/** A map that is not there, or is damaged, is none. */
async function readMap(path: string): Promise<SourceMap | undefined> {
  try {
    if ((await stat(path)).size > MOST_MAP_BYTES) return undefined
    return new SourceMap(JSON.parse(await readFile(path, 'utf8')) as SourceMapPayload)
  } catch {
    return undefined
  }
}
