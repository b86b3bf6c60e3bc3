import type { InspectedRouter, RouterInsight } from '../inspect/router-insight.ts'

/** The part of a committed React root that is read. Source: React 19, a root's fiber keeps its element. */
interface CommittedRoot {
  readonly current?: { readonly memoizedState?: { readonly element?: RootElement } }
}

/** `Deferred` of `entry.tsx`, with `ClientRoot` in it. */
interface RootElement {
  readonly props?: { readonly children?: { readonly props?: { readonly router?: unknown } } }
}

type CommitHook = (this: unknown, renderer: unknown, root: CommittedRoot, ...rest: unknown[]) => unknown

interface DevtoolsHook {
  onCommitFiberRoot?: CommitHook | undefined
}

/**
 * Calls back with the client router once the document is hydrated. The runtime exposes it only inside its tree, so this
 * reads it from the root's element, which React shows to development tools. The tree is not changed.
 * @param scope contains the hook of React's development tools, as set by `installRefresh`.
 */
export function findInsight(scope: object, onFound: (insight: RouterInsight, router: InspectedRouter) => void): void {
  const { __REACT_DEVTOOLS_GLOBAL_HOOK__: hook } = scope as { __REACT_DEVTOOLS_GLOBAL_HOOK__?: DevtoolsHook }
  if (hook === undefined) return
  const former = hook.onCommitFiberRoot
  hook.onCommitFiberRoot = function (renderer, root, ...rest) {
    const router = routerOf(root)
    if (router !== undefined) {
      hook.onCommitFiberRoot = former
      // The router's parts arrive after the page; subscribe for that.
      const look = (): void => {
        if (router.insight === undefined) return
        end()
        onFound(router.insight, router)
      }
      const end = router.subscribe(look)
      look()
    }
    return former?.call(this, renderer, root, ...rest)
  }
}

function routerOf(root: CommittedRoot): InspectedRouter | undefined {
  const router = root.current?.memoizedState?.element?.props?.children?.props?.router
  return typeof router === 'object' && router !== null ? (router as InspectedRouter) : undefined
}
