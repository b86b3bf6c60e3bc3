/**
 * Whose the input on a history entry is. Browsers keep an entry's state together with the input that they restore, also of
 * a tab that is closed, duplicated or unloaded.
 */
export interface EntryOwner {
  /** Of the page on screen; `undefined` if nobody has typed there. */
  readonly owner: string | undefined
  own(owner: string): void
}

/** Keys of the entry of the address bar, and of that of the page on screen. */
interface Stack {
  readonly current: { readonly key: string }
  readonly shown: string
}

/** Our other member of `history.state`. */
const MEMBER = 'millrace:owner'

export function createEntryOwner({ history }: Window, stack: Stack): EntryOwner {
  // Otherwise the address bar is at the entry of another page.
  const isShown = (): boolean => stack.shown === stack.current.key
  return {
    get owner() {
      const owner: unknown = isShown() ? history.state[MEMBER] : undefined
      return typeof owner === 'string' ? owner : undefined
    },
    own: (owner) => isShown() && history.replaceState({ ...history.state, [MEMBER]: owner }, ''),
  }
}
