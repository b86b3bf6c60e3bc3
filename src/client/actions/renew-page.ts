/** What a page of a former build needs to be loaded anew. */
export interface RenewParts {
  readonly window: Window
  /** Whether calls are on their way, a navigation is, or a blocker would hold the visitor back. */
  isBusy(): boolean
  /** Loads the document; what is typed is kept. */
  renew(): void
}

const RENDER_MS = 100 // React empties the form that was sent

/** What no draft keeps. */
const LOST = 'input[type=password],input[type=file]'

/**
 * Loads a page of a former build anew at a moment when that takes nothing away: at once, or when nobody looks at it, and
 * never while something is on its way or typed that could not be put back. A navigation loads a document anyway.
 * @returns to be called when an answer of another build has come, with whether there is nothing on the page that was to be
 * read first.
 */
export function createPageRenewal({ window, isBusy, renew }: RenewParts): (atOnce: boolean) => void {
  const { document } = window
  const renewIfSafe = (): void => {
    const fields = [...document.querySelectorAll<HTMLInputElement>(LOST)]
    if (!isBusy() && fields.every(({ value }) => value === '')) renew()
  }
  document.addEventListener('visibilitychange', () => document.visibilityState === 'hidden' && renewIfSafe())
  return (atOnce) => void (atOnce && window.setTimeout(renewIfSafe, RENDER_MS))
}
