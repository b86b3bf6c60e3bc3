import { readFile } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import { build, type BuildOptions as EsbuildOptions, type Metafile, type Plugin } from 'esbuild'
import { transform } from 'oxc-transform'
import { actionModule } from '../../build/sides/action-modules.ts'
import { actionReferences } from '../../build/sides/action-references.ts'
import { isLookUp, lookUp } from '../../build/resolve/look-up.ts'
import { isLinked, REACT_IMPORT } from '../../build/resolve/one-react.ts'
import type { Rewritten } from '../../build/assets/rewrite-references.ts'
import { CONDITIONS, OWN_RUNTIME, type Runtime } from '../../build/runtime.ts'
import { serverOnly } from '../../build/sides/server-wall.ts'

/** A source as browsers get it in development. */
export interface BrowserModule {
  /** With an inline source map. */
  readonly code: string
  /** Whether it exports only components, and can be refreshed in place. */
  readonly refreshable: boolean
  /** What it imports, by URL or by path in the project, sorted. */
  readonly imports: readonly string[]
}

/** Options of a transform. */
interface TransformContext {
  /** The project. */
  readonly root: string
  /** The application's folder. */
  readonly app: string
  readonly runtime?: Runtime
  /** Replacements for `process.env.NODE_ENV` and public variables. */
  readonly defines: Readonly<Record<string, string>>
  readonly aliases?: Pick<EsbuildOptions, 'alias'>
  /** Whether a plugin of the project loads this file. It is then compiled by esbuild, and not refreshed in place. */
  isClaimed?(file: string): boolean
  /** Gives files that a source names by `import.meta.url` their URLs. Default: leaves the source as it is. */
  rewrite?(file: string, text: string): Rewritten
  /** Plugins of the project, then stylesheets and assets, which become part of the module. */
  readonly plugins: readonly Plugin[]
  /** The URL of an imported source or package file. */
  urlOf(file: string): string
}

const SOURCE = /\.[cm]?[jt]sx?$/
const INERT = 'inert'
const EXPORTS = '\nexport {\n' // the last one in a module is esbuild's own

/** Exports of a page or layout that are not components; their changes apply to the next document. */
const PASSIVE_EXPORTS = new Set(['metadata'])

/**
 * Compiles one source for a browser, or makes the references of a module with actions: oxc handles types and JSX, and
 * adds the calls of React Refresh; esbuild handles imports.
 * @param key the source's path in the project; identifies its components across versions.
 * @throws esbuild's failure, or an `Error` with oxc's own excerpt.
 */
export async function transformModule(context: TransformContext, key: string): Promise<BrowserModule> {
  const file = join(context.root, key)
  const isReferences = actionModule(context.app, file) !== undefined
  if (!isReferences && (context.isClaimed?.(file) === true || !SOURCE.test(file))) {
    const { outputFiles, metafile } = await build({
      ...commonOptions(context),
      entryPoints: [file],
      jsx: 'automatic',
      jsxDev: true,
    })
    return { code: outputFiles[0]?.text ?? '', refreshable: false, imports: importsOf(metafile) }
  }
  const compiled = isReferences
    ? await actionReferences(context, file, true)
    : await compileSource(context, key, await readFile(file, 'utf8'))
  const { outputFiles, metafile } = await build({
    ...commonOptions(context),
    stdin: {
      contents: compiled,
      sourcefile: file,
      resolveDir: isReferences ? context.root : dirname(file),
      loader: 'js',
    },
    // A module of hooks alone has signatures and registers nothing.
    ...(/\$Refresh(?:Reg|Sig)\$\(/.test(compiled) ? { banner: { js: refreshHooks(key) } } : {}),
  })
  const code = outputFiles[0]?.text ?? ''
  return { code, refreshable: exportsOnlyComponents(code), imports: importsOf(metafile) }
}

/** Versions in URLs are left out. */
function importsOf({ inputs }: Metafile): readonly string[] {
  const paths = Object.values(inputs).flatMap(({ imports }) => imports.map(({ path }) => path.replace(/\?v=\d+$/, '')))
  return [...new Set(paths)].toSorted()
}

function commonOptions(context: TransformContext) {
  return {
    absWorkingDir: context.root,
    bundle: true,
    write: false,
    metafile: true,
    logLevel: 'silent',
    format: 'esm',
    target: 'es2022',
    conditions: CONDITIONS,
    sourcemap: 'inline',
    define: { ...context.defines },
    ...context.aliases,
    plugins: [...context.plugins, linkImports(context)],
  } as const satisfies EsbuildOptions
}

async function compileSource(context: TransformContext, key: string, text: string): Promise<string> {
  const language = extname(key).replace(/^\.[cm]?/, '')
  const file = join(context.root, key)
  const { contents = text, errors: faults } = context.rewrite?.(file, text) ?? { errors: [] }
  if (faults.length > 0) throw new Error(faults.map((fault) => fault.text).join('\n'))
  const { code, map, errors } = await transform(file, contents, {
    lang: language === 'ts' || language === 'tsx' ? language : 'jsx',
    sourcemap: true,
    jsx: { runtime: 'automatic', development: true, refresh: true },
    typescript: { onlyRemoveTypeImports: true },
  })
  if (errors.length > 0) throw new Error(errors.map((error) => error.codeframe ?? error.message).join('\n'))
  if (map === undefined || map === null) return code
  const encoded = Buffer.from(JSON.stringify(map)).toString('base64')
  return `${code}\n//# sourceMappingURL=data:application/json;base64,${encoded}`
}

function refreshHooks(key: string): string {
  const register = `(type,name)=>window.millraceRefresh.register(type,${JSON.stringify(key)},name)`
  return `const $RefreshReg$=${register},$RefreshSig$=window.millraceRefresh.signature;`
}

/** Every source has its own URL, so that it can be replaced alone. */
function linkImports({ root, app, runtime = OWN_RUNTIME, urlOf }: TransformContext): Plugin {
  return {
    name: 'link-imports',
    setup(build) {
      build.onResolve({ filter: /.*/ }, async (args) => {
        if (args.kind === 'entry-point' || isLookUp(args)) return undefined
        const isProjects = REACT_IMPORT.test(args.path) && isLinked(root, args.resolveDir)
        const found = await lookUp(build, isProjects ? { ...args, resolveDir: root } : args)
        if (found?.namespace !== 'file' || !SOURCE.test(found.path)) return undefined
        // The build has refused every other import of a server module already.
        const isServers = serverOnly(runtime, found.path) !== undefined && actionModule(app, found.path) === undefined
        if (isServers) return { path: INERT, namespace: INERT }
        return { path: urlOf(found.path), external: true }
      })
      build.onLoad({ filter: /.*/, namespace: INERT }, () => ({ contents: 'export {}', loader: 'js' }))
    },
  }
}

/** Compares the names in esbuild's one export clause with the components that oxc has registered. */
function exportsOnlyComponents(code: string): boolean {
  const registered = new Set(Array.from(code.matchAll(/\$RefreshReg\$\(\w+, "([^"]+)"\)/g), ([, name]) => name))
  const start = code.lastIndexOf(EXPORTS)
  const end = code.indexOf('}', start)
  if (start === -1 || end === -1 || registered.size === 0) return false
  return code
    .slice(start + EXPORTS.length, end)
    .split(',')
    .map((item) => item.trim().split(' as '))
    .every(([local = '', exported = local]) => {
      if (local === '' || PASSIVE_EXPORTS.has(exported) || registered.has(local)) return true
      return exported === 'default' && registered.has('%default%')
    })
}
