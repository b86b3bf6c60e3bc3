import type { BlockedNavigation, NavigationKind } from '../../react/router-types.ts'
import type { HistoryStack, Traversal } from './history-stack.ts'

/** Asks the blockers before the visitor leaves a page, and holds a blocked navigation. */
export interface LeaveGate {
  readonly blocked: BlockedNavigation | undefined
  /** Continues at once, or after the visitor's decision. */
  leave(href: string, kind: NavigationKind, go: () => void): void
  /** As `leave`, but the history has already moved: it is restored while the decision is open. */
  traverse(traversal: Traversal, go: () => void): void
}

/**
 * @param isAsked whether the visitor must decide before the page on screen is left for this one.
 * @param tell called when `blocked` has changed.
 */
export function createLeaveGate(
  isAsked: (href: string) => boolean,
  history: Pick<HistoryStack, 'go' | 'revert'>,
  tell: () => void,
): LeaveGate {
  let blocked: BlockedNavigation | undefined
  /** The visitor has allowed this traversal: do not ask again. */
  let allowed = false

  function hold(href: string, kind: NavigationKind, go: () => void): void {
    const block = (held?: BlockedNavigation): void => {
      blocked = held
      tell()
    }
    const reset = (): void => block()
    block({
      href,
      kind,
      reset,
      proceed() {
        reset()
        go()
      },
    })
  }

  return {
    get blocked() {
      return blocked
    },
    leave(href, kind, go) {
      if (isAsked(href)) hold(href, kind, go)
      else go()
    },
    traverse(traversal, go) {
      const { href, delta } = traversal
      const isAllowed = allowed
      allowed = false
      if (isAllowed || !isAsked(href)) return go()
      const proceed = (): void => {
        allowed = true
        history.go(delta)
      }
      void history.revert(traversal).then(() => hold(href, 'traverse', proceed))
    },
  }
}
