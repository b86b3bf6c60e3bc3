import { existsSync } from 'node:fs'
import { SourceMap, type SourceMapPayload } from 'node:module'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { PartialMessage } from 'esbuild'
import { displayPath } from '../build-options.ts'
import { StyleFault, type MadeStyle } from './made-style.ts'
import { foldersOf, requirePackage } from '../resolve/project-package.ts'

/** A place, as Sass gives it: lines and columns from 0. */
interface SassSpan {
  readonly url?: URL
  readonly start: { readonly line: number; readonly column: number }
  readonly context?: string
}

/** The part of the package `sass`, or of `sass-embedded`, that is used here. */
interface Sass {
  compileAsync(
    file: string,
    options: object,
  ): Promise<{ readonly css: string; readonly loadedUrls: readonly URL[]; readonly sourceMap?: SourceMapPayload }>
  readonly NodePackageImporter: new (folder: string) => object
}

/** Makes CSS of Sass, for one project. */
export interface SassCompiler {
  /** @throws {StyleFault} {BuildFault} where Sass is not installed. */
  compile(file: string): Promise<MadeStyle>
}

/**
 * A name that is not a path is one of the config's aliases, or a file of a package: `bootstrap/scss/bootstrap`,
 * `pkg:bootstrap`, and `~bootstrap/scss/bootstrap` as bundlers used to write it.
 * @param alias of the config.
 */
export function createSass(root: string, alias: Readonly<Record<string, string>> = {}): SassCompiler {
  const packageFolders = foldersOf(root).map((folder) => join(folder, 'node_modules'))
  const named = {
    findFileUrl(name: string): URL | null {
      if (name.startsWith('~')) return packageFile(name.slice(1), packageFolders)
      const [key, target] = Object.entries(alias).find(([key]) => name === key || name.startsWith(`${key}/`)) ?? []
      if (key === undefined || target === undefined) return null
      const path = target + name.slice(key.length)
      return path.startsWith('.') ? pathToFileURL(resolve(root, path)) : packageFile(path, packageFolders)
    },
  }

  return {
    async compile(file) {
      const { compileAsync, NodePackageImporter } = await loadSass(root, file)
      const warnings: PartialMessage[] = []
      const options = {
        importers: [named, new NodePackageImporter(root)],
        loadPaths: packageFolders,
        sourceMap: true,
        sourceMapIncludeSources: true,
        quietDeps: true,
        logger: {
          warn: (text: string, { span }: { readonly span?: SassSpan }) =>
            void warnings.push({ text, location: span === undefined ? null : placeOf(root, file, span) }),
          debug: (text: string, { span }: { readonly span: SassSpan }) =>
            console.error(`${displayPath(root, pathOf(span.url, file))}:${span.start.line + 1} @debug: ${text}`),
        },
      }
      const made = await compileAsync(file, options).catch((error: unknown) => {
        throw faultOf(root, file, error)
      })
      const { css, loadedUrls, sourceMap } = made
      const files = loadedUrls.flatMap((url) => (url.protocol === 'file:' ? [fileURLToPath(url)] : []))
      const rest = { files, folders: [], warnings }
      if (sourceMap === undefined) return { css, ...rest }
      return { css: withOwnUrls(css, file, sourceMap), map: JSON.stringify(relativeMap(file, sourceMap)), ...rest }
    },
  }
}

async function loadSass(root: string, file: string): Promise<Sass> {
  const loaded = await requirePackage(root, ['sass-embedded', 'sass'], displayPath(root, file))
  return ('compileAsync' in loaded ? loaded : loaded['default']) as Sass
}

function packageFile(path: string, folders: readonly string[]): URL | null {
  const [first = '', second = ''] = path.split('/')
  const name = first.startsWith('@') ? join(first, second) : first
  const folder = folders.find((one) => existsSync(join(one, name)))
  return folder === undefined ? null : pathToFileURL(join(folder, path))
}

function pathOf(url: URL | undefined, file: string): string {
  return url?.protocol === 'file:' ? fileURLToPath(url) : file
}

function placeOf(root: string, file: string, { url, start, context }: SassSpan): StyleFault['location'] {
  return {
    file: displayPath(root, pathOf(url, file)),
    line: start.line + 1,
    column: start.column,
    lineText: context?.trimEnd() ?? '',
  }
}

function faultOf(root: string, file: string, error: unknown): unknown {
  if (!(error instanceof Error) || !('sassMessage' in error) || !('span' in error)) return error
  return new StyleFault(String(error.sassMessage), placeOf(root, file, error.span as SassSpan))
}

/** Sources relative to the stylesheet: outputs must not depend on where the project is. */
function relativeMap(file: string, map: SourceMapPayload): SourceMapPayload {
  const sources = map.sources.map((url) =>
    url.startsWith('file:')
      ? relative(dirname(file), fileURLToPath(url)).split(sep).join('/')
      : url.replace(/^data:[^]*/, 'sass'),
  )
  return { ...map, sources }
}

const URL_TOKEN = /\burl\(\s*(['"]?)(?![a-z]+:|\/|#)([^'")\s]+)\1\s*\)/gi

/**
 * Sass leaves URLs as a partial has written them; browsers take them from the stylesheet that the partial became part of.
 * Those that name a file beside the partial are made relative to the stylesheet.
 */
function withOwnUrls(css: string, file: string, payload: SourceMapPayload): string {
  if (!css.includes('url(')) return css
  const map = new SourceMap(payload)
  const lines = css.split('\n').map((line, at) =>
    line.replace(URL_TOKEN, (token, quote: string, path: string, column: number) => {
      const entry = map.findEntry(at, column)
      const source = 'originalSource' in entry ? entry.originalSource : ''
      if (!source.startsWith('file:')) return token
      const target = resolve(dirname(fileURLToPath(source)), path.replace(/[?#].*$/, ''))
      if (!existsSync(target)) return token
      const found = relative(dirname(file), target).split(sep).join('/')
      return `url(${quote}${found.startsWith('.') ? '' : './'}${found}${/[?#].*$/.exec(path)?.[0] ?? ''}${quote})`
    }),
  )
  return lines.join('\n')
}
