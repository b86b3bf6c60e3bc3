import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, extname, resolve } from 'node:path'
import type { OnResolveArgs, Plugin, PluginBuild } from 'esbuild'
import { PUBLIC_PATH } from './build-options.ts'
import { shortHash } from './content-hash.ts'
import { isLookUp, lookUp } from './look-up.ts'

/** Files that are imported for their URL. */
const ASSET = /\.(?:svg|png|jpe?g|gif|webp|avif|ico|woff2?|mp3|mp4|webm|pdf)$/

const NAMESPACE = 'asset-url'

/**
 * Turns imports of images, fonts and the like into URLs that depend on content only, so that all bundles of a build
 * agree.
 */
export interface AssetFiles {
  readonly plugin: Plugin
  /** Everything imported so far: contents by file name below `PUBLIC_PATH`. */
  readonly emitted: ReadonlyMap<string, Uint8Array>
}

/**
 * Creates the plugin for one build; all its bundles share it.
 * @param basePath of the build; the URLs begin with it.
 */
export function createAssetFiles(basePath = ''): AssetFiles {
  const emitted = new Map<string, Uint8Array>()

  async function emit(file: string): Promise<string> {
    const contents = await readFile(file)
    const extension = extname(file)
    const name = `${basename(file, extension)}-${shortHash(contents)}${extension}`
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
        const file = await locate(build, args)
        if (file === undefined) return undefined
        const found = { path: await emit(file), watchFiles: [file] }
        return args.kind === 'url-token' ? { ...found, external: true } : { ...found, namespace: NAMESPACE }
      })
      build.onLoad({ filter: /.*/, namespace: NAMESPACE }, ({ path }) => ({
        contents: `export default ${JSON.stringify(path)}`,
        loader: 'js',
      }))
    },
  }
  return { plugin, emitted }
}

/** @returns `undefined` if the file is missing: esbuild's own resolver then reports it, with the line. */
async function locate(build: PluginBuild, args: OnResolveArgs): Promise<string | undefined> {
  const beside = resolve(args.resolveDir, args.path)
  if (args.path.startsWith('.') || args.kind === 'url-token') return existsSync(beside) ? beside : undefined
  return (await lookUp(build, args))?.path
}
