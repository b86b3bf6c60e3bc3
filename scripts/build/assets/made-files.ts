import { readFile } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { build, type Metafile, type Plugin } from 'esbuild'
import type { AssetFiles } from './asset-files.ts'
import { BuildFault } from '../build-fault.ts'
import { displayPath } from '../build-options.ts'
import { buildStyles } from './build-styles.ts'
import { workerOptions, type BundleContext } from '../bundle-options.ts'
import { STYLE } from './css-files.ts'
import type { CssModules } from './css-modules.ts'
import type { FileReference } from './file-references.ts'
import { createServerWall } from '../sides/server-wall.ts'

const SCRIPT = /\.[cm]?[jt]sx?$/

/**
 * Files that modules name by URL. A script is bundled with its imports, and so is a stylesheet; all others are served as they
 * are. Each is made once, for both sides, until `clear`.
 */
export interface MadeFiles {
  /**
   * @param file absolute path.
   * @param runs how a worker runs it.
   * @param within the scripts whose bundles ask for it, outermost first.
   * @returns its URL.
   * @throws {BuildFault} or esbuild's failure.
   */
  urlOf(file: string, runs: FileReference['runs'], within?: readonly string[]): Promise<string>
  /** Whether scripts or stylesheets were made from this file, among others. */
  isMadeFrom(file: string): boolean
  /** Makes all of them again: the files may have changed. */
  clear(): void
}

/** What they are made with. */
interface MadeFilesParts {
  readonly assets: AssetFiles
  readonly modules: CssModules
  /** Plugins for the bundle of a script, in their order, without the server wall. */
  pluginsFor(within: readonly string[]): readonly Plugin[]
}

export function createMadeFiles(context: BundleContext, { assets, modules, pluginsFor }: MadeFilesParts): MadeFiles {
  const { root } = context
  const made = new Map<string, Promise<string>>()
  const sources = new Set<string>()

  function note({ inputs }: Metafile): void {
    for (const key of Object.keys(inputs)) sources.add(resolve(root, key.replace(/^[a-z][a-z-]+:/, '')))
  }

  async function script(file: string, runs: FileReference['runs'], within: readonly string[]): Promise<string> {
    if (within.includes(file)) {
      throw new BuildFault(`${displayPath(root, file)} is a script that names itself by URL: pass its URL to it.`)
    }
    sources.add(file)
    const wall = createServerWall(context)
    const { outputFiles, metafile } = await build({
      ...workerOptions(context, file, runs),
      plugins: [...pluginsFor([...within, file]), wall.plugin],
    })
    if (wall.violations().length > 0) throw new BuildFault(wall.violations().join('\n\n'))
    note(metafile)
    return assets.add(file.replace(SCRIPT, '.js'), outputFiles[0]?.contents ?? new Uint8Array())
  }

  async function style(file: string): Promise<string> {
    sources.add(file)
    const group = { name: basename(file).replace(/\.\w+$/, ''), files: [displayPath(root, file)] }
    const { outputFiles, metafile } = await buildStyles(context, [group], modules, assets.plugin)
    if (metafile !== undefined) note(metafile)
    const output = outputFiles.find(({ path }) => path.endsWith('.css'))
    return assets.add(file.replace(STYLE, '.css'), output?.contents ?? new Uint8Array())
  }

  async function make(file: string, runs: FileReference['runs'], within: readonly string[]): Promise<string> {
    if (SCRIPT.test(file)) return script(file, runs, within)
    return STYLE.test(file) ? style(file) : assets.add(file, await readFile(file))
  }

  return {
    urlOf(file, runs, within = []) {
      // Two scripts that name each other must not wait for each other.
      const key = JSON.stringify([file, runs === 'module', within])
      const known = made.get(key)
      if (known !== undefined) return known
      const fresh = make(file, runs, within)
      made.set(key, fresh)
      return fresh
    },
    isMadeFrom: (file) => sources.has(file),
    clear() {
      made.clear()
      sources.clear()
    },
  }
}
