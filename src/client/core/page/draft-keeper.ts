import { restoreDrafts, saveDrafts } from './drafts.ts'

/** Keeps what a visitor has typed over a document load that was none of the visitor's doing. */
export interface DraftKeeper {
  /** To be called directly before the load. */
  save(): void
  /** Puts back what has been saved, if it is of the page on screen. */
  restore(): void
}

/**
 * Puts back what the page before has saved, and watches what is typed from now on.
 * @param storage of the session; `undefined` where the browser gives none.
 * @param pathname of the page on screen; the address bar may be ahead of it.
 */
export function keepDrafts(window: Window, storage: Storage | undefined, pathname: () => string): DraftKeeper {
  const { document } = window
  const typed = new WeakSet<EventTarget>()
  let isRestored = false

  function restore(): void {
    restoreDrafts(document, storage)
    isRestored = true
  }

  document.addEventListener('input', ({ target }) => target && typed.add(target), { capture: true, passive: true })
  if (document.readyState === 'complete') restore()
  else window.addEventListener('load', restore, { once: true })
  return {
    restore,
    save() {
      // What has been saved and not put back yet is worth more than what was typed since.
      if (isRestored) saveDrafts(document, storage, pathname(), typed)
    },
  }
}
