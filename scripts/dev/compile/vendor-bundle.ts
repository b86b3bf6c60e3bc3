import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build, type Metafile, type Plugin } from 'esbuild'
import { PUBLIC_PATH } from '../../build/build-options.ts'
import { basePathDefine } from '../../build/resolve/customization.ts'
import { PACKAGE_NAMES } from '../../build/esbuild-messages.ts'
import { reactOfProject } from '../../build/resolve/one-react.ts'
import { CONDITIONS, isPackageFile, OWN_RUNTIME, runtimeModule } from '../../build/runtime.ts'
import { createLookUpCache } from '../../build/resolve/look-up.ts'
import { formatsOf } from '../../build/resolve/module-formats.ts'
import type { Bundle, BundleCache } from './bundle-cache.ts'
import { commonJsEntries } from './commonjs-entries.ts'

/** Packages for browsers, bundled once and kept while the project's own modules change. */
export interface VendorBundle {
  /** Contents by URL path. */
  readonly files: ReadonlyMap<string, Uint8Array>
  /** URL path, without the base path, of a package's file that the project's modules import. */
  urlOf(file: string): string | undefined
  /** The module that most of a file is from, by URL path: its path in the project. */
  largestModule(path: string): string | undefined
  /** URL path, without the base path, of the development server's own script for pages. */
  readonly devClient: string
  /** What a package's file exports; `undefined` if only running it shows them. */
  namesOf(file: string): readonly string[] | undefined
  /** What it was made of. */
  readonly inputs: Metafile['inputs']
}

/** Options of `bundleVendors`. */
interface VendorOptions {
  /** The project. */
  readonly root: string
  /** The application's, for the runtime's modules. */
  readonly basePath?: string | undefined
  readonly bundles: BundleCache
  /** For stylesheets and assets that packages import, for files that they name by URL, and to keep server code out. */
  readonly plugins?: readonly Plugin[]
  onWork(work: 'packages'): void
}

/** A module that the build has made: it has no file. */
const MADE = /^[a-z][a-z-]+:/

const NAMES = `${PACKAGE_NAMES}:`

const SCRIPT = /\.[cm]?[jt]sx?$/

const DEV_CLIENT = runtimeModule(OWN_RUNTIME, 'client/dev/entry.ts')

/** The scripts of packages that the project's own modules import: absolute paths, sorted. */
export function importedPackageFiles(root: string, inputs: Metafile['inputs']): readonly string[] {
  const files = new Set<string>()
  for (const [key, { imports }] of Object.entries(inputs)) {
    if (isPackageFile(resolve(root, key))) continue
    for (const { path } of imports) {
      const file = resolve(root, path.startsWith(NAMES) ? path.slice(NAMES.length) : path)
      const isMade = MADE.test(path) && !path.startsWith(NAMES)
      if (!isMade && SCRIPT.test(path) && isPackageFile(file)) files.add(file)
    }
  }
  return [...files].toSorted()
}

/**
 * Bundles packages in development mode, with shared parts in common chunks, so that there is one React.
 * @param files from `importedPackageFiles`.
 * @param onWork called if the cache does not have the bundle.
 */
export async function bundleVendors(
  files: readonly string[],
  { root, basePath = '', bundles, plugins = [], onWork }: VendorOptions,
): Promise<VendorBundle> {
  const packages = await formatsOf(root, files)
  const bundle = await bundles.through(['browser', [...packages], basePath], () => {
    onWork('packages')
    return buildVendors({ root, basePath, plugins }, packages)
  })
  return vendorsOf(root, bundle)
}

function buildVendors(
  { root, basePath, plugins }: Required<Pick<VendorOptions, 'root' | 'plugins'>> & { readonly basePath: string },
  packages: ReadonlyMap<string, 'cjs' | 'esm'>,
): Promise<Bundle> {
  const entries = [...packages].map(([file, format]) => ({
    in: format === 'cjs' ? `cjs-entry:${file}` : file,
    out: packagePath(file).replace(/\W+/g, '-'),
  }))
  return build({
    entryPoints: [...entries, { in: DEV_CLIENT, out: 'millrace-dev-client' }],
    absWorkingDir: root,
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    logLevel: 'silent',
    format: 'esm',
    target: 'es2022',
    conditions: CONDITIONS,
    outdir: join(root, 'dist/vendor'),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    define: { 'process.env.NODE_ENV': '"development"', ...basePathDefine(basePath) },
    plugins: [createLookUpCache().plugin, reactOfProject(root), commonJsEntries(root), ...plugins],
  })
}

function vendorsOf(root: string, { outputFiles, metafile }: Bundle): VendorBundle {
  const urls = new Map<string, string>()
  const names = new Map<string, readonly string[]>()
  for (const [output, { entryPoint, exports }] of Object.entries(metafile.outputs)) {
    if (entryPoint === undefined) continue
    const file = resolve(root, entryPoint.replace(/^cjs-entry:/, ''))
    urls.set(file, vendorUrl(output))
    if (!passesOnCommonJs(root, metafile.inputs, entryPoint)) names.set(file, exports)
  }
  const largest = new Map(
    Object.entries(metafile.outputs).map(([output, { inputs }]) => {
      const [file = ''] = Object.entries(inputs).toSorted(([, a], [, b]) => b.bytesInOutput - a.bytesInOutput)[0] ?? []
      return [vendorUrl(output), file]
    }),
  )
  return {
    files: new Map(outputFiles.map(({ path, contents }) => [vendorUrl(path), contents])),
    urlOf: (file) => urls.get(file),
    largestModule: (path) => largest.get(path),
    namesOf: (file) => names.get(file),
    devClient: urls.get(DEV_CLIENT) ?? '',
    inputs: metafile.inputs,
  }
}

const STAR = /\bexport\s*\*/

/** Whether a module is CommonJS, or has `export *` from one. */
function passesOnCommonJs(root: string, inputs: Metafile['inputs'], entry: string): boolean {
  const reached = new Set([entry])
  for (const key of reached) {
    const input = inputs[key]
    if (input?.format !== 'esm' || MADE.test(key)) return true
    if (!STAR.test(readFileSync(resolve(root, key), 'latin1'))) continue
    for (const { path, kind, external } of input.imports) {
      if (kind === 'import-statement' && external !== true && !MADE.test(path)) reached.add(path)
    }
  }
  return false
}

function vendorUrl(path: string): string {
  return `${PUBLIC_PATH}vendor/${path.slice(path.lastIndexOf('/') + 1)}`
}

function packagePath(file: string): string {
  return file.slice(file.lastIndexOf('node_modules/') + 'node_modules/'.length).replace(/\.[cm]?js$/, '')
}
