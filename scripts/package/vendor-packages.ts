import { join } from 'node:path'
import { build, type BuildOptions, type Plugin } from 'esbuild'
import { bundledLicences, licenceList } from '../build/output/bundled-licences.ts'
import type { CompiledModules, VendorSide } from './compile-modules.ts'
import { fileName, OPTIONAL_PACKAGES, packageName, PEERS, RUN_TIME_PACKAGES } from './package-parts.ts'

/** Bundled packages, so that an installation has few packages. */
interface VendoredPackages {
  /** Contents by path in `lib`. */
  readonly files: ReadonlyMap<string, string>
  /** `name@version` of each, in order. */
  readonly packages: readonly string[]
}

/**
 * Bundles packages for each side, only the parts that the modules import, with their licences: for browsers into `vendor`, where
 * an application's build finds them, and for Node into `packages`, from where the server loads them.
 * @param root the project's folder.
 * @throws {Error} for a package without a licence text; esbuild's failure.
 */
export async function vendorPackages(root: string, modules: CompiledModules): Promise<VendoredPackages> {
  const sides = await Promise.all((['node', 'browser'] as const).map((side) => bundleSide(root, side, modules)))
  const files = new Map(sides.flatMap(({ files }) => [...files]))
  const known = bundledLicences(
    root,
    sides.map(({ metafile }) => metafile),
  )
  const unlicensed = known.find(({ licence }) => licence === undefined)
  if (unlicensed !== undefined) throw new Error(`${unlicensed.title} has no licence.`)
  files.set('vendor/LICENSES.txt', licenceList(known))
  return { files, packages: known.map(({ title }) => title) }
}

async function bundleSide(root: string, side: VendorSide, { files, vendored }: CompiledModules) {
  const specifiers = [...vendored[side]].toSorted()
  const taken = takenNames(files)
  const entries = new Map(specifiers.map((path) => [fileName(path), reexport(path, taken.get(fileName(path)))]))
  const { outputFiles, metafile } = await build({
    ...SIDES[side],
    entryPoints: [...entries.keys()].map((name) => ({ in: `vendor:${name}`, out: name })),
    absWorkingDir: root,
    outdir: join(root, 'lib', FOLDERS[side]),
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    format: 'esm',
    target: 'esnext',
    chunkNames: `${side}-[hash]`,
    minifySyntax: true,
    minifyWhitespace: true,
    minifyIdentifiers: true,
    legalComments: 'none',
    logLevel: 'silent',
    plugins: [vendorEntries(root, entries), leftOut(), ownPackages()],
  })
  const folder = join(root, 'lib/')
  return { files: outputFiles.map(({ path, text }) => [path.slice(folder.length), text] as const), metafile }
}

const FOLDERS: Readonly<Record<VendorSide, string>> = { browser: 'vendor', node: 'packages' }

const SIDES: Readonly<Record<VendorSide, BuildOptions>> = {
  // The application's own build decides which React runs.
  browser: { platform: 'browser', define: { 'process.env.NODE_ENV': 'process.env.NODE_ENV' } },
  node: {
    platform: 'node',
    define: {
      // As in Node's own copy of undici: without its second, experimental parser.
      esbuildDetection: '"millrace"',
      // As in the bundle around them: a server in development may host a build.
      'process.env.NODE_ENV': '"production"',
      // The error service's SDK patches nothing here, so it does not need its patches.
      __SENTRY_CHANNEL_INJECTION__: 'false',
    },
    // Bundled CommonJS packages still `require` Node's own modules.
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
  },
}

/** The names that compiled modules import from each vendored file; `*` if unknown. */
function takenNames(files: ReadonlyMap<string, string>): ReadonlyMap<string, ReadonlySet<string>> {
  const taken = new Map<string, Set<string>>()
  for (const text of files.values()) {
    for (const [, clause = '', file = ''] of text.matchAll(STATIC)) {
      for (const name of namesOf(clause)) take(file, name)
    }
    for (const [, names, file = ''] of text.matchAll(DYNAMIC)) {
      for (const name of names === undefined ? ['*'] : namesOf(`{${names}}`)) take(file, name)
    }
  }
  return taken

  function take(file: string, name: string): void {
    taken.set(file, (taken.get(file) ?? new Set()).add(name))
  }
}

// In esbuild's format.
const STATIC =
  /^(?:import|export) ([^;"']*?) ?from "(?:[./]*vendor|millrace\/internal\/packages)\/([^"]+?)(?:\.js)?";$/gm
const DYNAMIC = /(?:\{([^{}]*)\} = await )?import\("(?:[./]*vendor|millrace\/internal\/packages)\/([^"]+?)(?:\.js)?"\)/g

/** The imported names of a clause: `import a, { b as c }` imports `default` and `b`. */
function namesOf(clause: string): readonly string[] {
  if (clause.includes('*')) return ['*']
  const [, initial = '', braces = ''] = /^([\w$]*)[\s,]*(?:\{([^}]*)\})?/.exec(clause) ?? []
  const named = braces
    .split(',')
    .map(
      (item) =>
        item
          .trim()
          .split(/\s+as\s+|:/)[0]
          ?.trim() ?? '',
    )
    .filter((name) => name !== '')
  return initial === '' ? named : ['default', ...named]
}

function reexport(path: string, names: ReadonlySet<string> = new Set(['*'])): string {
  const from = JSON.stringify(path)
  if (names.has('*')) return `export * from ${from}`
  return `export { ${[...names].toSorted().join(', ')} } from ${from}`
}

function vendorEntries(root: string, entries: ReadonlyMap<string, string>): Plugin {
  return {
    name: 'vendor-entries',
    setup(building) {
      building.onResolve({ filter: /^vendor:/ }, ({ path }) => ({
        path: path.slice('vendor:'.length),
        namespace: 'vendor',
      }))
      building.onLoad({ filter: /.*/, namespace: 'vendor' }, ({ path }) => ({
        contents: entries.get(path) ?? '',
        loader: 'js',
        resolveDir: root,
      }))
    },
  }
}

/** Large parts of packages that nothing here calls and applications cannot reach. */
const LEFT_OUT: readonly (readonly [filter: RegExp, contents: string])[] = [
  // Express's parsers, with the tables of every character set.
  [/^body-parser$/, 'module.exports = {}'],
  // zod's messages in fifty languages.
  [/\/locales\/index\.js$/, 'export {}'],
  // The tree that css-select uses by default.
  [/^domutils$/, 'export {}'],
]

function leftOut(): Plugin {
  return {
    name: 'left-out',
    setup(building) {
      for (const [at, [filter]] of LEFT_OUT.entries()) {
        building.onResolve({ filter }, () => ({ path: String(at), namespace: 'left-out' }))
      }
      building.onLoad({ filter: /.*/, namespace: 'left-out' }, ({ path }) => ({
        contents: LEFT_OUT[Number(path)]?.[1] ?? '',
      }))
    },
  }
}

/**
 * Leaves out packages that are installed anyway. Not the optional ones: what is bundled here must run without them. Each
 * copy of `@opentelemetry/api` finds the application's providers in a global registry.
 */
function ownPackages(): Plugin {
  const optional: readonly string[] = OPTIONAL_PACKAGES
  const run = RUN_TIME_PACKAGES.filter((name) => !optional.includes(name)) as readonly string[]
  const peers: readonly string[] = PEERS
  return {
    name: 'own-packages',
    setup(building) {
      building.onResolve({ filter: /^[^./]/ }, ({ path }) => {
        const name = packageName(path)
        if (peers.includes(name)) return { path, external: true }
        return run.includes(name) ? { path: `millrace/internal/packages/${fileName(path)}`, external: true } : undefined
      })
    },
  }
}
