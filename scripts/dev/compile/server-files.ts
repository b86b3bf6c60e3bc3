import type { BuildResult, OutputFile } from 'esbuild'
import type { DevContexts, InMemory } from './dev-contexts.ts'
import {
  compileServerEntries,
  compileServerModules,
  importersOfStyles,
  separableModules,
  type ServerModules,
} from './server-modules.ts'

/** The application's modules for Node one by one, so that a save needs no bundle. */
export interface ServerFiles {
  /**
   * Compiles files that were saved, and keeps all others.
   * @param files absolute paths of modules that import the same as before, and export at least the same.
   * @returns all files of a generation; `undefined` if this application needs a bundle.
   * @throws esbuild's failure.
   */
  replace(files: readonly string[]): Promise<readonly OutputFile[] | undefined>
  /** The compiled modules, and the files that start a generation; `undefined` if there are none. */
  readonly compiled: Promise<CompiledServer | undefined> | undefined
  /** Ends the work in the background. */
  close(): void
}

interface CompiledServer {
  readonly modules: ServerModules
  readonly entries: readonly OutputFile[]
}

const DELAY_MS = 1_000 // leaves the processor to the pages that are loaded after a build

/**
 * Modules are compiled a moment after a build, or when the first one is saved.
 * @param server the bundle of the same sources.
 * @param previous of the last build, whose modules are used again; absent if imports may resolve to other files since then.
 * @param changed absolute paths of files that have changed since then.
 */
export function createServerFiles(
  contexts: DevContexts,
  server: BuildResult<InMemory>,
  previous: ServerFiles | undefined,
  changed: readonly string[],
): ServerFiles {
  const state: { compiled?: Promise<CompiledServer | undefined> } = {}
  const timer = setTimeout(() => void start().catch(() => undefined), DELAY_MS).unref()

  function start(): Promise<CompiledServer | undefined> {
    clearTimeout(timer)
    state.compiled ??= compileAll().catch((error: unknown) => {
      delete state.compiled // another attempt may find sources that compile
      throw error
    })
    return state.compiled
  }

  async function compileAll(): Promise<CompiledServer | undefined> {
    const { root } = contexts.context
    const files = separableModules(root, server.metafile)
    if (files === undefined) return undefined
    const known = (await previous?.compiled?.catch(() => undefined))?.modules ?? new Map<string, OutputFile>()
    const isModule = new Set(files)
    const stale = new Set([...changed, ...importersOfStyles(root, server.metafile, changed)])
    const unchanged = new Map([...known].filter(([file]) => isModule.has(file) && !stale.has(file)))
    const others = files.filter((file) => !unchanged.has(file))
    const [fresh, entries] = await Promise.all([compileServerModules(contexts, others), compileServerEntries(contexts)])
    return { modules: new Map([...unchanged, ...fresh]), entries }
  }

  return {
    get compiled() {
      return state.compiled
    },
    async replace(files) {
      const known = await start()
      if (known === undefined || files.some((file) => !known.modules.has(file))) return undefined
      const fresh = await compileServerModules(contexts, files)
      const next = { ...known, modules: new Map([...known.modules, ...fresh]) }
      state.compiled = Promise.resolve(next)
      return [...next.entries, ...next.modules.values()]
    },
    close: () => clearTimeout(timer),
  }
}
