import type { ModuleLoader } from '../../shared/route-definition.ts'

/**
 * Modules that the table's lazy imports have brought, so that a render finds them at once.
 * Bound: one entry a loader of the table. Lifetime: that of its owner (a server, or a page in the browser).
 */
export interface ModuleCache {
  /** The module if it is here already. */
  get(loader: ModuleLoader): unknown
  /** Brings the missing ones, in parallel. Returns `undefined` when there is nothing to wait for. */
  load(loaders: readonly ModuleLoader[]): Promise<void> | undefined
}

/** A cache of its own for each owner; a failed import is forgotten, so that the next request tries again. */
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
