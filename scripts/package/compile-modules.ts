import { readdir } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { dirname, join, posix, relative, sep } from 'node:path'
import { decode, encode } from '@jridgewell/sourcemap-codec'
import { build, type Plugin } from 'esbuild'
import { withoutCommentLines } from '../checks/import-list.ts'
import { fileName, MODULE_FOLDERS, packageName, PEERS, RUN_TIME_PACKAGES, TOOLS } from './package-parts.ts'

const SOURCE = /\.tsx?$/
const TYPES = /\.d\.ts$/
/** Of what runs in tests and in development alone, the repository has the sources. */
const NEVER_DEPLOYED = /^src\/(?:testing|client\/(?:dev|inspect)|server\/export)\//

/** The compiled modules, and the packages that they need but that are not installed with this one. */
export interface CompiledModules {
  /** Contents by path in `lib`. */
  readonly files: ReadonlyMap<string, string>
  /** Specifiers of packages to bundle into this one, by the side that imports them. */
  readonly vendored: Readonly<Record<VendorSide, ReadonlySet<string>>>
}

/** Where a vendored package runs. */
export type VendorSide = 'browser' | 'node'

/**
 * Compiles each module separately: it stays in its place, types and JSX are removed, and imports name compiled files.
 * @param root the project's folder.
 * @throws esbuild's failure.
 */
export async function compileModules(root: string): Promise<CompiledModules> {
  const sources = (await Promise.all(MODULE_FOLDERS.map((folder) => sourcesIn(root, folder)))).flat()
  const vendored = { browser: new Set<string>(), node: new Set<string>() }
  const { outputFiles } = await build({
    entryPoints: sources,
    absWorkingDir: root,
    outbase: root,
    outdir: join(root, 'lib'),
    bundle: true,
    write: false,
    format: 'esm',
    jsx: 'automatic',
    target: 'esnext',
    platform: 'neutral',
    sourcemap: 'linked',
    treeShaking: false,
    logLevel: 'silent',
    plugins: [renameImports(root, vendored)],
  })
  const written = outputFiles.filter(
    ({ path }) => !path.endsWith('.map') || !path.startsWith(join(root, 'lib/scripts')),
  )
  const files = written.map(({ path, text }) => [relative(join(root, 'lib'), path).split(sep).join('/'), text] as const)
  return {
    files: new Map(
      files.map(([path, text]) => [path, path.endsWith('.map') ? leanMap(path, text) : requirePackages(text)]),
    ),
    vendored,
  }
}

/**
 * A map without comments, which are in the repository, and with the start of one line for each line: both were a third of the
 * whole archive. Compiled modules keep their lines, so stacks and breakpoints still find them.
 */
function leanMap(path: string, text: string): string {
  const map = JSON.parse(text) as { sourcesContent?: readonly string[]; readonly mappings: string }
  if (NEVER_DEPLOYED.test(path)) delete map.sourcesContent
  const lines = decode(map.mappings).map(([first]) =>
    first?.length === 1 || first === undefined ? [] : [[0, first[1], first[2], 0] as [number, number, number, number]],
  )
  return JSON.stringify({
    ...map,
    sourcesContent: map.sourcesContent?.map(withoutCommentLines),
    mappings: encode(lines),
  })
}

async function sourcesIn(root: string, folder: string): Promise<string[]> {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && SOURCE.test(entry.name) && !TYPES.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .toSorted()
}

function renameImports(root: string, vendored: Readonly<Record<VendorSide, Set<string>>>): Plugin {
  return {
    name: 'rename-imports',
    setup(building) {
      building.onResolve({ filter: /.*/ }, ({ path, importer, kind }) => {
        if (kind === 'entry-point') return undefined
        if (path.startsWith('.')) return { path: path.replace(SOURCE, '.js'), external: true }
        if (isBuiltin(path) || path.startsWith('millrace:')) return { path, external: true }
        const name = packageName(path)
        if (isOneOf(PEERS, name)) return { path, external: true }
        if (isOneOf(RUN_TIME_PACKAGES, name) || isOneOf(TOOLS, name)) {
          return { path: `millrace/internal/packages/${fileName(path)}`, external: true }
        }
        const from = relative(root, importer).split(sep).join('/')
        if (!from.startsWith('src/client/')) {
          vendored.node.add(path)
          return { path: `millrace/internal/packages/${fileName(path)}`, external: true }
        }
        vendored.browser.add(path)
        const file = posix.relative(dirname(from), `vendor/${fileName(path)}.js`)
        return { path: file.startsWith('.') ? file : `./${file}`, external: true }
      })
    },
  }
}

/** Resolves modules that are required by name, which the bundler does not see, in the same way. */
function requirePackages(text: string): string {
  return text.replace(/\b(require\d*)\("([^"]+)"\)/g, (call, name: string, path: string) =>
    isOneOf(RUN_TIME_PACKAGES, packageName(path)) ? `${name}("millrace/internal/packages/${fileName(path)}")` : call,
  )
}

function isOneOf(names: readonly string[], name: string): boolean {
  return names.includes(name)
}
