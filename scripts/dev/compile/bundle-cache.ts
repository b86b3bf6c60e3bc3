import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { readdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { version, type Metafile, type OutputFile } from 'esbuild'
import { contentHash } from '../../build/content-hash.ts'
import type { Customization } from '../../build/build-options.ts'
import { pluginsOf } from '../../build/resolve/customization.ts'
import { pluginClaims } from '../../build/resolve/plugin-claims.ts'
import { isPackageFile } from '../../build/runtime.ts'
import { fileStamp, packageStamp } from '../../build/resolve/package-stamp.ts'

/** A file of a bundle. */
export type BundleFile = Pick<OutputFile, 'path' | 'contents' | 'hash'>

/** What esbuild has made of packages and of the runtime. */
export interface Bundle {
  readonly outputFiles: readonly BundleFile[]
  readonly metafile: Metafile
}

/**
 * Keeps bundles of packages on disk for the next start. One is used as long as no file that it was made of has changed, no
 * package was installed, and the key is the same; otherwise it is made again. Holds the most recent `MOST_ENTRIES`.
 */
export interface BundleCache {
  /** @param key all that determines the bundle beside its files: entries and options. */
  through(key: unknown, make: () => Promise<Bundle>): Promise<Bundle>
}

/** An entry on disk, after the digest of its bytes. */
interface Entry extends Bundle {
  /** Two keys with one hash do not mix. */
  readonly key: string
  readonly stamps: readonly (readonly [path: string, stamp: string])[]
}

const MOST_ENTRIES = 8 // two for each of the last states of an application
const MOST_BYTES = 200 * 2 ** 20
const DIGEST_BYTES = 32
const ENTRY_NAME = /^[0-9a-f]{64}(?:\.[\w-]+)?$/ // the second part is that of an unfinished one

/** esbuild's namespaces of inputs that have no file. */
const WITHOUT_FILE = /^(?:started|required|required-package|entry|node-parts):/

/**
 * @param folder of the entries; without one, nothing is kept.
 * @param project a plugin of its customization that may change what is made of packages prevents an entry.
 */
export function createBundleCache(
  folder: string | undefined,
  { root, customization = {} }: { readonly root: string; readonly customization?: Customization | undefined },
): BundleCache {
  if (folder === undefined) return { through: (_key, make) => make() }
  const plugins = (['browser', 'server'] as const).flatMap((side) => pluginsOf(customization, side))
  const claims = pluginClaims(plugins)

  async function keep(file: string, key: string, bundle: Bundle, unfinished: string): Promise<void> {
    const startedAt = await changedAt(unfinished)
    const inputs = Object.keys(bundle.metafile.inputs)
    if (inputs.some((input) => input.startsWith('asset-url:'))) return // its file is emitted by the build alone
    const files = inputs.filter((input) => !WITHOUT_FILE.test(input)).map((input) => fileOfInput(root, input))
    const { changes } = await claims
    if (files.some(changes)) return
    const stamps = around(files).map((path) => [path, fileStamp(path)] as const)
    const times = await Promise.all(files.map(changedAt))
    if (times.some((time) => time >= startedAt)) return
    const body = serialize({ ...bundle, outputFiles: bundle.outputFiles.map(plain), key, stamps } satisfies Entry)
    if (body.length > MOST_BYTES) return
    await writeFile(unfinished, Buffer.concat([digest(body), body]))
    await rename(unfinished, file)
    await removeOld(folder ?? '')
  }

  return {
    async through(parts, make) {
      const key = JSON.stringify([parts, root, customization, environment(), packageStamp(root)])
      const file = join(folder, contentHash(key))
      const known = await read(file, key)
      if (known !== undefined) {
        await utimes(file, new Date(), new Date()).catch(() => undefined)
        return known
      }
      // Its time is by the same clock as those of the sources. A folder that cannot be written costs the time of the next start.
      const unfinished = `${file}.${randomUUID()}`
      const isOpen = await open(folder, unfinished).catch(() => false)
      try {
        const bundle = await make()
        if (isOpen) await keep(file, key, bundle, unfinished).catch(() => undefined)
        return bundle
      } finally {
        await rm(unfinished, { force: true })
      }
    },
  }
}

/** What the code that makes bundles depends on: itself, its compiler, and Node, which evaluates packages. */
function environment(): readonly string[] {
  const own = ['build', 'dev'].flatMap((name) => {
    const folder = resolve(import.meta.dirname, '../..', name)
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path))
  })
  return [version, process.version, process.platform, process.env['NODE_ENV'] ?? '', ...own.map(fileStamp)]
}

/** @returns `undefined` for a damaged or outdated entry, and for none. */
async function read(file: string, key: string): Promise<Bundle | undefined> {
  try {
    const bytes = await readFile(file)
    const body = bytes.subarray(DIGEST_BYTES)
    if (!digest(body).equals(bytes.subarray(0, DIGEST_BYTES))) return undefined
    const entry = deserialize(body) as Entry
    const isSame = entry.key === key && entry.stamps.every(([path, stamp]) => fileStamp(path) === stamp)
    return isSame ? { outputFiles: entry.outputFiles, metafile: entry.metafile } : undefined
  } catch {
    return undefined
  }
}

function digest(body: Uint8Array): Buffer {
  return createHash('sha256').update(body).digest()
}

function plain({ path, contents, hash }: BundleFile): BundleFile {
  return { path, contents, hash }
}

function fileOfInput(root: string, input: string): string {
  return resolve(root, input.replace(/^[a-z][a-z-]+:/, ''))
}

/**
 * These files, and what decides which files imports lead to: folders of sources, manifests of packages, and the folders in
 * which packages are looked for.
 */
function around(files: readonly string[]): readonly string[] {
  const all = new Set(files)
  for (const file of files) {
    if (!isPackageFile(file)) all.add(dirname(file))
    for (let at = dirname(file); dirname(at) !== at; at = dirname(at)) {
      const parent = dirname(at)
      const isInstalled = /(?:^|[\\/])node_modules(?:[\\/]@[^\\/]+)?$/.test(parent)
      all.add(join(at, 'package.json'))
      if (isInstalled) all.add(parent)
    }
  }
  return [...all]
}

async function open(folder: string, unfinished: string): Promise<boolean> {
  await mkdir(folder, { recursive: true })
  await writeFile(unfinished, '')
  return true
}

async function changedAt(file: string): Promise<number> {
  return (await stat(file)).ctimeMs
}

async function removeOld(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => ENTRY_NAME.test(name))
  const aged = await Promise.all(names.map(async (name) => ({ name, at: (await stat(join(folder, name))).mtimeMs })))
  const old = aged.toSorted((a, b) => b.at - a.at).slice(MOST_ENTRIES)
  await Promise.all(old.map(({ name }) => rm(join(folder, name), { force: true })))
}
