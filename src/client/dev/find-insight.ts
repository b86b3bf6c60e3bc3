import type { InspectedRouter, RouterInsight } from '../inspect/router-insight.ts'

/** What of a committed React root is looked at. Source: React 19, the fiber of a root keeps the element it was given. */
interface CommittedRoot {
  readonly current?: {
    readonly memoizedState?: { readonly element?: { readonly props?: { readonly router?: unknown } } }
  }
}

type CommitHook = (this: unknown, renderer: unknown, root: CommittedRoot, ...rest: unknown[]) => unknown

interface DevtoolsHook {
  onCommitFiberRoot?: CommitHook | undefined
}

/**
 * Tells of the client router once the document is hydrated. The runtime hands it to nobody outside of its tree, so it is
 * read off the root's own element, which React shows to development tools. The tree stays as it is.
 * @param scope has the hook of React's development tools, as `installRefresh` leaves it.
 */
export function findInsight(scope: object, onFound: (insight: RouterInsight) => void): void {
  const { __REACT_DEVTOOLS_GLOBAL_HOOK__: hook } = scope as { __REACT_DEVTOOLS_GLOBAL_HOOK__?: DevtoolsHook }
  if (hook === undefined) return
  const former = hook.onCommitFiberRoot
  hook.onCommitFiberRoot = function (renderer, root, ...rest) {
    const router = routerOf(root)
    if (router !== undefined) {
      hook.onCommitFiberRoot = former
      // Its parts come later than the page; it tells when they have.
      const look = (): void => {
        if (router.insight === undefined) return
        end()
        onFound(router.insight)
      }
      const end = router.subscribe(look)
      look()
    }
    return former?.call(this, renderer, root, ...rest)
  }
}

function routerOf(root: CommittedRoot): InspectedRouter | undefined {
  const router = root.current?.memoizedState?.element?.props?.router
  return typeof router === 'object' && router !== null ? (router as InspectedRouter) : undefined
}
