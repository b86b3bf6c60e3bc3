import { restoreDrafts, saveDrafts } from './drafts.ts'

/** Keeps a visitor's typed input across a document load that the visitor did not ask for. */
export interface DraftKeeper {
  /** Call this directly before the load. */
  save(): void
  /** Restores saved input, if it is of the page on screen. */
  restore(): void
}

/**
 * Restores the input that the previous document saved, and watches typing from now on.
 * @param storage of the session; `undefined` if the browser provides none.
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
      // Saved input that is not restored yet is more valuable than input typed since.
      if (isRestored) saveDrafts(document, storage, pathname(), typed)
    },
  }
}
