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
    /** Set by `injectIntoGlobalHook`. */
    __REACT_DEVTOOLS_GLOBAL_HOOK__?: {
      inject(renderer: RefreshedRenderer): unknown
      onCommitFiberRoot?: CommitHook | undefined
    }
  }
}

interface RefreshedRenderer {
  setRefreshHandler?(familyOf: (type: unknown) => undefined): void
}

type CommitHook = (this: unknown, ...args: unknown[]) => unknown

/** Replaces components in a running page. */
export interface Refresh {
  /**
   * Loads new versions of those modules that this page has, and renders their components instead of the old ones. Waits for
   * the page's first render, or for a failure before it: until then React neither knows what to render again, nor has the
   * page all its modules.
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
  const rendered = firstRender(scope)
  rememberFailedBoundaries(scope)
  scope.millraceRefresh = {
    register(type, key, name) {
      present.add(key)
      register(type, `${key} ${name}`)
    },
    signature: createSignatureFunctionForTransform,
  }
  return {
    async apply(modules) {
      await rendered
      await Promise.all(modules.filter(({ key }) => present.has(key)).map(({ url }) => load(url)))
      performReactRefresh()
    },
  }
}

/** Settles with React's first commit, or with a script that has failed before it: such a page has no commit. */
function firstRender(scope: Window): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { __REACT_DEVTOOLS_GLOBAL_HOOK__: hook } = scope
  if (hook === undefined) resolve()
  else {
    const former = hook.onCommitFiberRoot
    hook.onCommitFiberRoot = function (...args) {
      resolve()
      return former?.apply(this, args)
    }
  }
  const failed = ({ target }: Event): void => {
    // Images fail without harm.
    if (target === scope || (target as Partial<Element> | null)?.tagName === 'SCRIPT') resolve()
  }
  scope.addEventListener('error', failed, { capture: true })
  scope.addEventListener('unhandledrejection', failed)
  return promise
}

/**
 * React notes which error boundaries have failed, so that a refresh renders them again, only once it has a refresh
 * handler. React Refresh sets its own with the first change: without one before, a page that fails while it hydrates
 * would keep its fallback when its code is fixed.
 */
function rememberFailedBoundaries({ __REACT_DEVTOOLS_GLOBAL_HOOK__: hook }: Window): void {
  if (hook === undefined) return
  const { inject } = hook
  hook.inject = (renderer) => {
    renderer.setRefreshHandler?.(() => undefined)
    return inject.call(hook, renderer)
  }
}
