/**
 * The error service's archive of scripts and their source maps. https://docs.sentry.io/platforms/javascript/sourcemaps/
 * says what it is for, https://docs.rs/symbolic-debuginfo/latest/symbolic_debuginfo/sourcebundle/ how it is made: a magic
 * number, a version, and a ZIP archive with `manifest.json`. Scripts and maps are found by their debug ids.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { debugIdOf } from '../../src/shared/reports/debug-id.ts'
import { PUBLIC_PATH } from '../build/build-options.ts'
import { namedScript } from '../build/debug-ids.ts'
import { zipArchive, type ArchivedFile } from './zip-archive.ts'

/** A script of the browser, and the map that leads to its sources. */
export interface MappedScript {
  /** File name of the script. */
  readonly name: string
  readonly debugId: string
  /** As browsers load it, with the comments that name id and map. */
  readonly script: Uint8Array
  readonly map: Uint8Array
}

/** What a bundle belongs to. */
export interface BundleScope {
  /** Slug of the organization. */
  readonly org: string
  /** Slug of the project. */
  readonly project: string
  readonly release: string
}

const HEADER = Buffer.from('SYSB\x02\0\0\0', 'latin1') // magic number, version 2

/**
 * Reads the scripts of a build that have maps, in the order of their names. Those of the server are none of them: Node
 * itself shows its stacks in the sources.
 * @param out absolute path of the build.
 */
export async function readMappedScripts(out: string): Promise<readonly MappedScript[]> {
  const maps = (await readdir(join(out, 'maps'))).filter((name) => name.endsWith('.js.map')).toSorted()
  return Promise.all(
    maps.map(async (mapName) => {
      const name = mapName.replace(/\.map$/, '')
      const debugId = debugIdOf(name)
      const [script, map] = await Promise.all([
        readFile(join(out, 'public', name)),
        readFile(join(out, 'maps', mapName)),
      ])
      const named = Buffer.from(namedScript(script, debugId))
      return { name, debugId, script: Buffer.concat([named, Buffer.from(`//# sourceMappingURL=${mapName}\n`)]), map }
    }),
  )
}

/** Makes the bundle; equal scripts give equal bytes. */
export function artifactBundle(scripts: readonly MappedScript[], { org, project, release }: BundleScope): Buffer {
  const files: ArchivedFile[] = []
  const entries: Record<string, object> = {}
  const add = (name: string, contents: Uint8Array, entry: object): void => {
    const path = `files/_/_${PUBLIC_PATH}${name}`
    files.push({ path, contents })
    entries[path] = { url: `~${PUBLIC_PATH}${name}`, ...entry }
  }
  for (const { name, debugId, script, map } of scripts) {
    const mapName = `${name}.map`
    add(name, script, { type: 'minified_source', headers: { 'debug-id': debugId, sourcemap: mapName } })
    add(mapName, map, { type: 'source_map', headers: { 'debug-id': debugId } })
  }
  const manifest = Buffer.from(JSON.stringify({ org, project, release, files: entries }))
  return Buffer.concat([HEADER, zipArchive([...files, { path: 'manifest.json', contents: manifest }], HEADER.length)])
}
