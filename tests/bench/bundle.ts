import { createRequire } from 'node:module'
import { join, parse } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import type { BuildOptions, Plugin } from 'esbuild'
import { createAssetFiles } from '../../scripts/build/assets/asset-files.ts'
import { browserOptions } from '../../scripts/build/bundle-options.ts'
import { cssFiles } from '../../scripts/build/assets/css-files.ts'
import { createCssModules } from '../../scripts/build/assets/css-modules.ts'

/** The project's folder. */
export const PROJECT = join(import.meta.dirname, '../..')

/** How pages are bundled that are measured. */
export const PRODUCTION: BuildOptions = {
  absWorkingDir: PROJECT,
  bundle: true,
  format: 'esm',
  define: { 'process.env.NODE_ENV': '"production"' },
  jsx: 'automatic',
  conditions: ['millrace-source', 'module'],
  logLevel: 'error',
}

/** Leaves Express where it is, by its absolute address, so that the bundle may lie outside the project. */
const expressInPlace: Plugin = {
  name: 'express-in-place',
  setup(building) {
    const require = createRequire(join(PROJECT, 'package.json'))
    building.onResolve({ filter: /^express$/ }, () => ({
      path: pathToFileURL(require.resolve('express')).href,
      external: true,
    }))
  },
}

/**
 * Bundles the bare server as our own server is bundled: production React inside, Express outside, not minified.
 * @param folder where it goes.
 * @param source the server, in this folder.
 * @returns the path of the bundle.
 */
export async function bundleBareServer(folder: string, source = 'bare-server.tsx'): Promise<string> {
  const outfile = join(folder, `${parse(source).name}.mjs`)
  await build({
    ...PRODUCTION,
    entryPoints: [`tests/bench/${source}`],
    outfile,
    platform: 'node',
    target: 'node24',
    plugins: [expressInPlace],
    banner: { js: `import { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)` },
  })
  return outfile
}

/** The smallest script that brings React into a page: what every hydrating page pays, whoever serves it. */
export async function bundleReactAlone(): Promise<Uint8Array> {
  const { outputFiles } = await build({
    ...PRODUCTION,
    stdin: {
      contents: `import { hydrateRoot } from 'react-dom/client'
import { createElement } from 'react'
hydrateRoot(document, createElement('html'))`,
      resolveDir: PROJECT,
    },
    platform: 'browser',
    target: 'es2022',
    minify: true,
    write: false,
  })
  const [script] = outputFiles
  if (script === undefined) throw new Error('esbuild wrote no script for React alone.')
  return script.contents
}

/** Bundles the page that swaps trees by React alone, with the options and the class names of the build. */
export async function bundleBarePage(): Promise<string> {
  const context = { root: PROJECT, app: join(PROJECT, 'src/app'), mode: 'production', defines: {} } as const
  const plugins = [createAssetFiles().plugin, cssFiles(PROJECT, createCssModules(PROJECT))]
  const { outputFiles } = await build({
    ...browserOptions(context, plugins),
    entryPoints: { bare: 'tests/bench/bare-page.tsx' },
    splitting: false,
    sourcemap: false,
    write: false,
  })
  const script = outputFiles.find(({ path }) => path.endsWith('.js'))
  if (script === undefined) throw new Error('esbuild wrote no script for the bare page.')
  return script.text
}
