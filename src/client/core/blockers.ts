import type { BlockedNavigation, BlockerQuestion, NavigationKind } from '../router-types.ts'

/** Who wants to be asked before the page is left, and the navigation that is held back. */
export interface Blockers {
  readonly blocked: BlockedNavigation | undefined
  add(asks: (question: BlockerQuestion) => boolean): () => void
  /** Whether anybody objects. */
  object(href: string | undefined): boolean
  /** Holds a navigation back: `proceed` goes on with it. */
  hold(href: string, kind: NavigationKind, proceed: () => void): void
}

/** Also asks when the document itself is left, for as long as anybody is there to be asked. */
export function createBlockers(window: Window, onChange: () => void): Blockers {
  const asked = new Set<(question: BlockerQuestion) => boolean>()
  const state: { blocked?: BlockedNavigation | undefined } = {}

  const object = (href: string | undefined): boolean => [...asked].some((asks) => asks({ href }))
  const beforeUnload = (event: BeforeUnloadEvent): void => {
    if (object(undefined)) event.preventDefault()
  }

  function setBlocked(blocked: BlockedNavigation | undefined): void {
    state.blocked = blocked
    onChange()
  }

  return {
    get blocked() {
      return state.blocked
    },
    add(asks) {
      // Only while needed: a page with such a listener may not be kept for the back button.
      if (asked.size === 0) window.addEventListener('beforeunload', beforeUnload)
      asked.add(asks)
      return () => {
        asked.delete(asks)
        if (asked.size === 0) window.removeEventListener('beforeunload', beforeUnload)
      }
    },
    object,
    hold(href, kind, proceed) {
      setBlocked({
        href,
        kind,
        proceed() {
          setBlocked(undefined)
          proceed()
        },
        reset: () => setBlocked(undefined),
      })
    },
  }
}
