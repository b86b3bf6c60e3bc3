import { statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, extname, resolve } from 'node:path'
import type { OnResolveArgs, Plugin, PluginBuild } from 'esbuild'
import { PUBLIC_PATH } from '../build-options.ts'
import { shortHash } from '../content-hash.ts'
import { isLookUp, lookUp } from '../resolve/look-up.ts'

/** Endings of files that are imported for their URL; `millrace/types` declares them. */
const ENDINGS =
  'svg|png|apng|jpe?g|gif|webp|avif|bmp|ico|cur|woff2?|ttf|otf|eot|mp3|m4a|ogg|wav|flac|mp4|webm|ogv|mov|vtt|pdf|wasm'

/** In a stylesheet a query or fragment may follow: `river.eot?#iefix`. In a script that is a part of the name. */
const ASSET = new RegExp(`\\.(?:${ENDINGS})(?:[?#].*)?$`, 'i')

const LONGEST_STEM = 80 // characters; file systems take 255 bytes, with hash, ending and coding

/** esbuild's namespace for modules that export a URL. */
export const ASSET_URL = 'asset-url'

/**
 * Turns imports of images, fonts and the like into URLs that depend on content only, so that all bundles of a build
 * agree.
 */
export interface AssetFiles {
  readonly plugin: Plugin
  /** Everything imported so far: contents by file name below `PUBLIC_PATH`. */
  readonly emitted: ReadonlyMap<string, Uint8Array>
  /**
   * Adds a file.
   * @param file its name; what is made of another file has another ending.
   * @returns its URL.
   */
  add(file: string, contents: Uint8Array): string
}

/**
 * Creates the plugin for one build; all its bundles share it.
 * @param basePath of the build; the URLs begin with it.
 */
export function createAssetFiles(basePath = ''): AssetFiles {
  const emitted = new Map<string, Uint8Array>()

  function add(file: string, contents: Uint8Array): string {
    const name = publicName(file, shortHash(contents))
    emitted.set(name, contents)
    return basePath + PUBLIC_PATH + name
  }

  const plugin: Plugin = {
    name: 'asset-files',
    setup(build) {
      build.onResolve({ filter: ASSET }, async (args) => {
        if (isLookUp(args) || /^(?:[a-z]{2,}:|\/\/)/i.test(args.path)) return undefined
        // In a stylesheet a leading slash means a URL of the site, not a file of the build.
        if (args.kind === 'url-token' && args.path.startsWith('/')) return { path: args.path, external: true }
        const { file, suffix = '' } = (await locate(build, args)) ?? {}
        if (file === undefined) return undefined
        const url = add(file, await readFile(file))
        return args.kind === 'url-token'
          ? { path: url + suffix, watchFiles: [file], external: true }
          : { path: url, watchFiles: [file], namespace: ASSET_URL }
      })
      build.onLoad({ filter: /.*/, namespace: ASSET_URL }, ({ path }) => ({
        contents: `export default ${JSON.stringify(path)}`,
        loader: 'js',
      }))
    },
  }
  return { plugin, emitted, add }
}

/** A name that is the same text in a URL, in HTML, in CSS and on every disk: what it cannot keep, the hash tells apart. */
function publicName(file: string, hash: string): string {
  const extension = extname(file)
  const plain = basename(file, extension).normalize('NFKD').replaceAll(/\p{M}/gu, '')
  const stem = plain.replaceAll(/[^\w.-]+/g, '-').slice(0, LONGEST_STEM)
  return `${stem.replaceAll(/^[-.]+|[-.]+$/g, '') || 'file'}-${hash}${extension.toLowerCase()}`
}

interface AssetReference {
  readonly file: string
  /** The query and fragment of a stylesheet's URL. */
  readonly suffix: string
}

/** @returns `undefined` if the file is missing: esbuild's own resolver then reports it, with the line. */
async function locate(build: PluginBuild, args: OnResolveArgs): Promise<AssetReference | undefined> {
  const isUrl = args.kind === 'url-token'
  for (const { file: name, suffix } of isUrl ? urlReadings(args.path) : [{ file: args.path, suffix: '' }]) {
    const file = resolve(args.resolveDir, name)
    if ((isUrl || name.startsWith('.')) && isFile(file)) return { file, suffix }
  }
  if (args.path.startsWith('.')) return undefined
  const { file: path, suffix } = (isUrl && urlReadings(args.path).at(-1)) || { file: args.path, suffix: '' }
  const found = await lookUp(build, { ...args, path })
  // By a package's `exports`, `pkg/icon.svg` may be a script.
  const isAsset = found?.namespace === 'file' && ASSET.test(found.path) && isFile(found.path)
  return isAsset ? { file: found.path, suffix } : undefined
}

/** What a URL may name: authors write names of files as they are, tools write them encoded. */
function urlReadings(path: string): readonly AssetReference[] {
  const end = path.search(/[?#]/)
  const readings = [{ file: path, suffix: '' }]
  if (end > 0) readings.push({ file: path.slice(0, end), suffix: path.slice(end) })
  return readings.flatMap(({ file, suffix }) => [file, decoded(file)].map((name) => ({ file: name, suffix })))
}

/** A URL may be written encoded. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Whether there is a file, and not a folder. */
export function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}
