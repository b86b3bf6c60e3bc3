import type { RenewedModule } from './dev-messages.ts'
import {
  createSignatureFunctionForTransform,
  injectIntoGlobalHook,
  performReactRefresh,
  register,
} from 'react-refresh/runtime'

/** Globals that compiled modules call; the module transform writes these calls. */
interface RefreshHooks {
  /** Registers a component under its module's path in the project and its name. */
  register(type: unknown, key: string, name: string): void
  readonly signature: typeof createSignatureFunctionForTransform
}

declare global {
  interface Window {
    millraceRefresh?: RefreshHooks
  }
}

/** Replaces components in a running page. */
export interface Refresh {
  /**
   * Loads new versions of those modules that this page has, and renders their components instead of the old ones.
   * @throws errors of a module's evaluation; nothing is rendered then.
   */
  apply(modules: readonly RenewedModule[]): Promise<void>
}

/**
 * Must run before React's renderer is loaded, and before any module of the application.
 * @param load `import()`, except in tests.
 */
export function installRefresh(scope: Window, load: (url: string) => Promise<unknown>): Refresh {
  const present = new Set<string>()
  injectIntoGlobalHook(scope)
  scope.millraceRefresh = {
    register(type, key, name) {
      present.add(key)
      register(type, `${key} ${name}`)
    },
    signature: createSignatureFunctionForTransform,
  }
  return {
    async apply(modules) {
      await Promise.all(modules.filter(({ key }) => present.has(key)).map(({ url }) => load(url)))
      performReactRefresh()
    },
  }
}
