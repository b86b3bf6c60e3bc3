import { debugIdOf } from '../../../src/shared/reports/debug-id.ts'
import { contentHash } from '../content-hash.ts'

const MAP = /\.js\.map$/
const MAP_COMMENT = '//# sourceMappingURL='

/**
 * Adds debug ids to the maps of the browser's scripts. The scripts themselves are unchanged: each would grow by 45
 * incompressible bytes, a dozen times before a page is hydrated.
 */
export function nameBrowserMaps(maps: ReadonlyMap<string, Uint8Array>): ReadonlyMap<string, Uint8Array> {
  return new Map(
    [...maps].map(([name, map]) => {
      const id = MAP.test(name) ? debugIdOf(name.replace(/\.map$/, '')) : undefined
      return [name, id === undefined ? map : namedMap(map, id)]
    }),
  )
}

/**
 * Adds debug ids to the server's scripts and their maps, derived from their contents, because the names have no hash.
 */
export function nameServerFiles(files: ReadonlyMap<string, Uint8Array>): ReadonlyMap<string, Uint8Array> {
  const named = new Map(files)
  for (const [name, script] of files) {
    const map = files.get(`${name}.map`)
    if (map === undefined) continue
    const id = debugIdOf(contentHash(script, map))
    named.set(name, namedScript(script, id))
    named.set(`${name}.map`, namedMap(map, id))
  }
  return named
}

/**
 * A script with a comment that contains its id, before the one with its map's URL, which tools expect at the very end.
 */
export function namedScript(script: Uint8Array, id: string): Uint8Array {
  const text = new TextDecoder().decode(script).trimEnd()
  const lastLine = text.lastIndexOf('\n') + 1
  const end = text.startsWith(MAP_COMMENT, lastLine) ? lastLine : text.length
  const gap = end === text.length ? '\n' : ''
  return new TextEncoder().encode(`${text.slice(0, end)}${gap}//# debugId=${id}\n${text.slice(end)}`)
}

/** Under the name of the standard, and under the one that the service's older tools read. */
function namedMap(map: Uint8Array, id: string): Uint8Array {
  const text = new TextDecoder().decode(map)
  return new TextEncoder().encode(text.replace('{', () => `{\n  "debugId": "${id}",\n  "debug_id": "${id}",`))
}
