import { readFile } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { runInNewContext } from 'node:vm'
import { build, type Message, type Plugin } from 'esbuild'
import { displayPath } from '../build-options.ts'
import { shortHash } from '../content-hash.ts'
import { pluginLoader } from '../resolve/plugin-loader.ts'

/** Stylesheets with local class names, those included that a plugin of the project makes CSS of. */
export const CSS_MODULE = /\.module\.(?:css|scss|sass|less|styl|pcss)$/

/** A compiled stylesheet with local class names. */
interface CssModule {
  /** Exports for the importing module: local name to one or more class names. */
  readonly names: Readonly<Record<string, string>>
  /** The stylesheet with its names replaced; `url()` and `@import` are unchanged. */
  readonly css: string
  /** Files named by `composes … from`; their styles must precede. */
  readonly composed: readonly string[]
  readonly warnings: readonly Message[]
}

/** Compiles each of them once, separately from all bundles, so that every bundle sees the same names. */
export interface CssModules {
  compile(file: string): Promise<CssModule>
  /** Clears the cache: the files may have changed. */
  clear(): void
  /** Drops these files, those that compose from them, and those that did not compile. */
  forget(files: readonly string[]): Promise<void>
}

/**
 * Names are `<file>_<hash of its path in the project>_<name>`: equal on every machine, and unique without a counter
 * that would depend on other files.
 * @param root the project.
 * @param plugins of the project, which make CSS of what it writes.
 */
export function createCssModules(root: string, plugins: readonly Plugin[] = []): CssModules {
  const compiled = new Map<string, Promise<CssModule>>()

  function compile(file: string): Promise<CssModule> {
    const known = compiled.get(file)
    if (known !== undefined) return known
    const fresh = compileCssModule({ root, plugins }, file, compile)
    compiled.set(file, fresh)
    return fresh
  }

  async function forget(files: readonly string[]): Promise<void> {
    const stale = new Set(files)
    const composed = new Map<string, readonly string[]>()
    for (const [file, result] of compiled) {
      const known = await result.catch(() => undefined)
      if (known === undefined) stale.add(file)
      else composed.set(file, known.composed)
    }
    for (const file of stale) {
      for (const [user, others] of composed) if (others.includes(file)) stale.add(user)
      compiled.delete(file)
    }
  }

  return { compile, clear: () => compiled.clear(), forget }
}

async function compileCssModule(
  { root, plugins }: { readonly root: string; readonly plugins: readonly Plugin[] },
  file: string,
  compileOther: (file: string) => Promise<CssModule>,
): Promise<CssModule> {
  const composed = new Map<string, CssModule>()
  const plugin: Plugin = {
    name: 'css-module',
    async setup(building) {
      const { onResolve, onLoad } = building
      const load = await pluginLoader(building, plugins)
      onResolve({ filter: /.*/ }, async ({ kind, path, resolveDir }) => {
        if (kind === 'import-statement') return { path: scopeName(root, file), namespace: 'module', pluginData: file }
        if (kind !== 'composes-from') return { path, external: true }
        const other = resolve(resolveDir, path)
        if (other === file) return { errors: [{ text: `${basename(file)} composes from itself: leave out "from"` }] }
        composed.set(other, await compileOther(other))
        return { path: scopeName(root, other), namespace: 'composed', pluginData: other }
      })
      onLoad({ filter: /.*/, namespace: 'module' }, async () => ({
        contents: await readFile(file),
        ...(await load(file)),
        loader: 'local-css',
        resolveDir: dirname(file),
      }))
      // Only the names of a composed file matter here; its rules are in its own stylesheet.
      onLoad({ filter: /.*/, namespace: 'composed' }, ({ pluginData }) => ({
        contents: Object.keys(composed.get(String(pluginData))?.names ?? {})
          .map((name) => `.${escapeClassName(name)}{}`)
          .join(''),
        loader: 'local-css',
      }))
    },
  }

  const { outputFiles, warnings } = await build({
    stdin: { contents: 'export { default } from "module"', resolveDir: dirname(file) },
    bundle: true,
    write: false,
    outdir: root,
    format: 'iife',
    globalName: 'compiled',
    minifySyntax: true, // drops the empty rules of composed files
    legalComments: 'none',
    logLevel: 'silent',
    plugins: [plugin],
  })
  const script = outputFiles.find((output) => output.path.endsWith('.js'))?.text ?? ''
  const css = outputFiles.find((output) => output.path.endsWith('.css'))?.text ?? ''
  const exported: Record<string, string> = runInNewContext(`${script}; compiled.default`)
  return {
    names: joinComposed(exported, [...composed.values()]),
    css: css.replace(/^\/\* (?:module|composed):.* \*\/\n/gm, ''),
    composed: [...composed.keys()],
    warnings: warnings.map((warning) => inSource(warning, displayPath(root, file))),
  }
}

/**
 * Names the source in a message of the compiler, which knows it by the scope of its names. A plugin of the project names
 * its places itself: they may be in files that the source imports.
 */
export function inSource(message: Message, source: string): Message {
  const { location } = message
  return location?.file.startsWith('module:') === true
    ? { ...message, location: { ...location, file: source } }
    : message
}

function scopeName(root: string, file: string): string {
  return `${basename(file).replace(CSS_MODULE, '')}-${shortHash(displayPath(root, file))}`
}

/** A composed class may itself compose others: its own name, the last of its list, represents the whole list. */
function joinComposed(names: Record<string, string>, composed: readonly CssModule[]): Record<string, string> {
  const lists = new Map<string, string>()
  for (const { names: others } of composed) {
    for (const list of Object.values(others)) lists.set(list.slice(list.lastIndexOf(' ') + 1), list)
  }
  const joined: [string, string][] = Object.entries(names).map(([name, list]) => {
    const classes = list.split(' ').flatMap((one) => (lists.get(one) ?? one).split(' '))
    return [name, [...new Set(classes)].join(' ')]
  })
  return Object.fromEntries(joined)
}

function escapeClassName(name: string): string {
  return name.replace(/[^\w-]|^\d/g, (character) => `\\${character.codePointAt(0)?.toString(16)} `)
}
