import {
  createSignatureFunctionForTransform,
  injectIntoGlobalHook,
  performReactRefresh,
  register,
} from 'react-refresh/runtime'

/** What compiled modules call, as a global of the page; the module transform writes these calls. */
interface RefreshHooks {
  readonly register: typeof register
  readonly signature: typeof createSignatureFunctionForTransform
}

declare global {
  interface Window {
    millraceRefresh?: RefreshHooks
  }
}

/** Must run before React's renderer is loaded, and before any module of the application. */
export function installRefresh(scope: Window): void {
  injectIntoGlobalHook(scope)
  scope.millraceRefresh = { register, signature: createSignatureFunctionForTransform }
}

/**
 * Loads new versions of modules and renders their components in the place of the old ones.
 * @param load `import()`, where it is not under test.
 * @throws whatever a module throws while it is evaluated; nothing is rendered then.
 */
export async function refreshModules(urls: readonly string[], load: (url: string) => Promise<unknown>): Promise<void> {
  await Promise.all(urls.map(load))
  performReactRefresh()
}
