import type { RouterInsight } from '../router-insight.ts'

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
    const insight = insightOf(root)
    if (insight !== undefined) {
      hook.onCommitFiberRoot = former
      onFound(insight)
    }
    return former?.call(this, renderer, root, ...rest)
  }
}

function insightOf(root: CommittedRoot): RouterInsight | undefined {
  const router = root.current?.memoizedState?.element?.props?.router
  if (typeof router !== 'object' || router === null || !('insight' in router)) return undefined
  return router.insight as RouterInsight | undefined
}
