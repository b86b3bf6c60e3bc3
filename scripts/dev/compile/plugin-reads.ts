import { sep } from 'node:path'
import type { OnLoadResult, Plugin } from 'esbuild'
import type { Customization } from '../../build/build-options.ts'
import { pluginsOf } from '../../build/resolve/customization.ts'

/** The files that plugins of the project read beside those that they load: partials of Sass, sources of Tailwind. */
export interface PluginReads {
  /** The same customization, with plugins that note what they read. */
  readonly customization: Customization
  /** @returns the files that a plugin has made from this one, among others. Absolute paths. */
  usersOf(file: string): readonly string[]
  /** These files, and those that plugins have made from them. */
  withUsers(files: readonly string[]): readonly string[]
  /** All files that plugins have named. */
  files(): ReadonlySet<string>
}

type Reads = Required<Pick<OnLoadResult, 'watchFiles' | 'watchDirs'>>

/** Notes `watchFiles` and `watchDirs` of the plugins' results. */
export function notePluginReads(customization: Customization): PluginReads {
  const reads = new Map<string, Reads>()

  function noting({ name, setup }: Plugin): Plugin {
    return {
      name,
      setup: (build) =>
        setup({
          ...build,
          onLoad(options, load) {
            build.onLoad(options, async (args) => {
              const result = await load(args)
              const { watchFiles = [], watchDirs = [] } = result ?? {}
              if (result?.errors === undefined || result.errors.length === 0) reads.delete(args.path)
              if (watchFiles.length + watchDirs.length > 0) reads.set(args.path, { watchFiles, watchDirs })
              return result
            })
          },
        }),
    }
  }

  const [browser, server] = (['browser', 'server'] as const).map((side) => pluginsOf(customization, side).map(noting))
  const usersOf = (file: string): readonly string[] =>
    [...reads].flatMap(([user, read]) => (user !== file && hasRead(read, file) ? [user] : []))
  return {
    customization: { ...customization, plugins: { browser: browser ?? [], server: server ?? [] } },
    usersOf,
    withUsers: (files) => [...new Set(files.flatMap((file) => [file, ...usersOf(file)]))],
    files: () => new Set([...reads.values()].flatMap(({ watchFiles }) => watchFiles)),
  }
}

function hasRead({ watchFiles, watchDirs }: Reads, file: string): boolean {
  return watchFiles.includes(file) || watchDirs.some((folder) => file.startsWith(folder + sep))
}
