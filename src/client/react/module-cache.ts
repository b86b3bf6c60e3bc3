import type { ModuleLoader } from '../../shared/route-definition.ts'

/**
 * Modules loaded by the table's lazy imports, so that a render finds them synchronously. Bound: one entry per loader of
 * the table. Lifetime: that of its owner (a server, or a page in the browser).
 */
export interface ModuleCache {
  /** The module, if it has loaded. */
  get(loader: ModuleLoader): unknown
  /** Loads the missing ones, in parallel. Returns `undefined` if none is missing. */
  load(loaders: readonly ModuleLoader[]): Promise<void> | undefined
}

/** Creates a cache for one owner; a failed import is forgotten, so that the next request tries again. */
export function createModuleCache(): ModuleCache {
  const loaded = new Map<ModuleLoader, unknown>()
  const pending = new Map<ModuleLoader, Promise<void>>()

  function start(loader: ModuleLoader): Promise<void> {
    const running = pending.get(loader)
    if (running) return running
    const started = loader()
      .then((module) => void loaded.set(loader, module))
      .finally(() => pending.delete(loader))
    pending.set(loader, started)
    return started
  }

  return {
    get: (loader) => loaded.get(loader),
    load(loaders) {
      const missing = loaders.filter((loader) => !loaded.has(loader))
      return missing.length === 0 ? undefined : Promise.all(missing.map(start)).then(() => undefined)
    },
  }
}
