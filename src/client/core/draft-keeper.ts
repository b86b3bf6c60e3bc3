/** Keeps what a visitor has typed over a document load that was none of the visitor's doing. */
export interface DraftKeeper {
  /** Saves it, if the code for that has come; to be called directly before the load. */
  save(): void
}

/**
 * Puts back what the page before has saved, and watches what is typed from now on. The code for it is not in the first
 * load, and yet here long before another build of the server could have taken it away.
 * @param storage of the session; `undefined` where the browser gives none.
 * @param pathname of the page on screen; the address bar may be ahead of it.
 */
export function keepDrafts(window: Window, storage: Storage | undefined, pathname: () => string): DraftKeeper {
  const { document } = window
  const typed = new WeakSet<EventTarget>()
  let save: (() => void) | undefined

  async function load(): Promise<void> {
    const drafts = await import('./drafts.ts')
    drafts.restoreDrafts(document, storage)
    save = () => drafts.saveDrafts(document, storage, pathname(), typed)
  }

  document.addEventListener('input', ({ target }) => target && typed.add(target), { capture: true, passive: true })
  const start = (): void => void load().catch(() => undefined) // costs drafts, nothing else
  if (document.readyState === 'complete') start()
  else window.addEventListener('load', start, { once: true })
  return { save: () => save?.() }
}
