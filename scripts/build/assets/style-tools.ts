import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type { OnLoadResult, PartialMessage, Plugin } from 'esbuild'
import { BuildFault } from '../build-fault.ts'
import { displayPath, type Customization } from '../build-options.ts'
import { contentHash } from '../content-hash.ts'
import { StyleFault, type MadeStyle } from './made-style.ts'
import { findPostcssConfig } from './postcss-config.ts'
import { createPostcss, type PostcssProcessor } from './postcss-styles.ts'
import { createSass, type SassCompiler } from './sass-styles.ts'

/** Stylesheets that are not CSS yet. */
const OTHER_STYLE = /\.(?:scss|sass|pcss|less|styl)$/
const ANY_STYLE = /\.(?:css|scss|sass|pcss|less|styl)$/
const SASS = /\.s[ac]ss$/

/** Languages that the project has to bring a plugin for. */
const FOREIGN: Readonly<Record<string, string>> = { '.less': 'Less', '.styl': 'Stylus' }

/**
 * Adds what makes CSS of a project's stylesheets without configuration: Sass where it is installed, and PostCSS where it has
 * a config. Plugins of the project are asked first.
 */
export function withStyleTools(root: string, customization: Customization): Customization {
  const { browser = [], ...others } = customization.plugins ?? {}
  const plugin = styleTools(root, customization.alias)
  return { ...customization, plugins: { ...others, browser: [...browser, plugin] } }
}

function styleTools(root: string, alias: Customization['alias']): Plugin {
  const config = findPostcssConfig(root)
  const tools: Tools = {
    root,
    sass: createSass(root, alias),
    postcss: config === undefined ? undefined : createPostcss(root, config),
  }
  const made = keepMade((file) => make(tools, file))
  return {
    name: 'styles',
    setup({ onLoad }) {
      onLoad({ filter: config === undefined ? OTHER_STYLE : ANY_STYLE }, async ({ path }) => {
        try {
          return resultOf(await made(path))
        } catch (error) {
          if (!(error instanceof BuildFault)) throw error
          const file = displayPath(root, path)
          const location = error instanceof StyleFault ? error.location : { file, line: 1, column: 0, lineText: '' }
          // A save of any file that was read may fix it.
          return { errors: [{ text: error.message, location }] }
        }
      })
    },
  }
}

interface Tools {
  readonly root: string
  readonly sass: SassCompiler
  readonly postcss: PostcssProcessor | undefined
}

async function make({ root, sass, postcss }: Tools, file: string): Promise<MadeStyle> {
  const language = FOREIGN[extname(file)]
  const shown = displayPath(root, file)
  if (language !== undefined) {
    throw new BuildFault(
      `${shown} is ${language}, which needs a plugin of esbuild: plugins.browser of millrace.config.ts.`,
    )
  }
  if (SASS.test(file)) {
    const made = await sass.compile(file)
    if (postcss === undefined) return made
    const next = await postcss.process(file, made.css, made.map)
    return {
      ...next,
      files: [...made.files, ...next.files],
      folders: [...made.folders, ...next.folders],
      warnings: [...made.warnings, ...next.warnings],
    }
  }
  if (postcss === undefined)
    throw new BuildFault(`${shown} is for PostCSS, which has no config: write postcss.config.mjs.`)
  return postcss.process(file, await readFile(file, 'utf8'))
}

function resultOf({ css, map, files, folders, warnings }: MadeStyle): OnLoadResult {
  const encoded = map === undefined ? undefined : Buffer.from(map).toString('base64')
  const comment = encoded === undefined ? '' : `\n/*# sourceMappingURL=data:application/json;base64,${encoded} */`
  return {
    contents: css + comment,
    loader: 'css',
    watchFiles: [...files],
    watchDirs: [...folders],
    warnings: [...warnings] as PartialMessage[],
  }
}

/**
 * Keeps the CSS of each stylesheet as long as nothing that it was made from has other contents. What was made from whole
 * folders is made again each time. Calls for one file wait for each other: tools keep a state for each.
 */
function keepMade(make: (file: string) => Promise<MadeStyle>): (file: string) => Promise<MadeStyle> {
  const kept = new Map<string, { readonly stamp: string; readonly made: MadeStyle }>()
  const running = new Map<string, Promise<MadeStyle>>()

  async function renewed(file: string): Promise<MadeStyle> {
    const known = kept.get(file)
    if (known !== undefined && known.stamp === (await stampOf(file, known.made))) return known.made
    const made = await make(file)
    if (made.folders.length === 0) kept.set(file, { stamp: await stampOf(file, made), made })
    else kept.delete(file)
    return made
  }

  return (file) => {
    const before = running.get(file) ?? Promise.resolve()
    const made = before.catch(() => undefined).then(() => renewed(file))
    running.set(file, made)
    return made
  }
}

async function stampOf(file: string, { files }: MadeStyle): Promise<string> {
  const all = [...new Set([file, ...files])]
  const texts = await Promise.all(all.map((one) => readFile(one).catch(() => 'missing')))
  return contentHash(...texts)
}
