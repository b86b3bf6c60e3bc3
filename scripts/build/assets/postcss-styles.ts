import { isAbsolute } from 'node:path'
import type { PartialMessage } from 'esbuild'
import { displayPath } from '../build-options.ts'
import { StyleFault, type MadeStyle } from './made-style.ts'
import { loadPostcssConfig } from './postcss-config.ts'
import { requirePackage } from '../resolve/project-package.ts'

/** A message of PostCSS or of one of its plugins. */
interface PostcssMessage {
  readonly type: string
  readonly file?: unknown
  readonly dir?: unknown
}

interface PostcssWarning {
  readonly text: string
  readonly plugin?: string
  readonly line?: number
  readonly column?: number
  readonly node?: { readonly source?: { readonly input?: { readonly file?: string; readonly css?: string } } }
}

/** The part of the package `postcss` that is used here. */
interface Postcss {
  default(plugins: readonly unknown[]): {
    process(
      css: string,
      options: object,
    ): PromiseLike<{
      readonly css: string
      readonly map?: { toString(): string }
      readonly messages: readonly PostcssMessage[]
      warnings(): readonly PostcssWarning[]
    }>
  }
}

/** Runs PostCSS by a project's config. */
export interface PostcssProcessor {
  /**
   * @param map of what made this CSS, as JSON.
   * @throws {StyleFault} {BuildFault} where the config, PostCSS or a plugin cannot be loaded.
   */
  process(file: string, css: string, map?: string): Promise<MadeStyle>
}

/** @param config absolute path. */
export function createPostcss(root: string, config: string): PostcssProcessor {
  const state: { loaded?: ReturnType<typeof load> } = {}

  async function load() {
    const { plugins, options } = await loadPostcssConfig(root, config)
    const { default: postcss } = (await requirePackage(
      root,
      ['postcss'],
      displayPath(root, config),
    )) as unknown as Postcss
    return { processor: postcss(plugins), options }
  }

  return {
    async process(file, css, map) {
      state.loaded ??= load()
      const { processor, options } = await state.loaded.catch((error: unknown) => {
        delete state.loaded // a package may be installed meanwhile
        throw error
      })
      const result = await Promise.resolve(
        processor.process(css, {
          map: { inline: false, annotation: false, ...(map === undefined ? {} : { prev: map }) },
          ...options,
          from: file,
          to: file,
        }),
      ).catch((error: unknown) => {
        throw faultOf(root, file, error)
      })
      const named = (key: 'file' | 'dir', types: readonly string[]): string[] =>
        result.messages.flatMap((message) => {
          const path = types.includes(message.type) ? message[key] : undefined
          return typeof path === 'string' ? [path] : []
        })
      return {
        css: result.css,
        ...(result.map === undefined ? {} : { map: result.map.toString() }),
        files: named('file', ['dependency', 'build-dependency']),
        folders: named('dir', ['dir-dependency', 'context-dependency']),
        warnings: result.warnings().map((warning) => messageOf(root, file, warning)),
      }
    },
  }
}

function messageOf(root: string, file: string, warning: PostcssWarning): PartialMessage {
  const { text, plugin, line = 1, column = 1, node } = warning
  const { file: source = file, css = '' } = node?.source?.input ?? {}
  return {
    text: plugin === undefined ? text : `${text} (${plugin})`,
    location: {
      file: displayPath(root, source),
      line,
      column: column - 1,
      lineText: css.split('\n')[line - 1] ?? '',
    },
  }
}

/** PostCSS's own errors have a place; what a plugin throws else has the stylesheet. */
function faultOf(root: string, file: string, error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { reason, plugin, file: named, line = 1, column = 1, source = '' } = error as Partial<CssSyntaxError> & Error
  const place = named !== undefined && isAbsolute(named) ? named : file
  const by = plugin === undefined ? '' : ` (${plugin})`
  return new StyleFault((reason ?? error.message) + by, {
    file: displayPath(root, place),
    line,
    column: column - 1,
    lineText: source.split('\n')[line - 1] ?? '',
  })
}

interface CssSyntaxError {
  readonly reason: string
  readonly plugin?: string
  readonly file: string
  readonly line: number
  readonly column: number
  readonly source: string
}
