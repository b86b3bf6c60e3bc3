/** Parts for reloading a page of a former build. */
interface RenewParts {
  readonly window: Window
  /** Whether calls or a navigation are pending, or a blocker would stop the visitor. */
  isBusy(): boolean
  /** Loads the document; typed input is kept. */
  renew(): void
}

const RENDER_MS = 100 // React resets the form that was sent

/** Input that drafts do not keep. */
const LOST = 'input[type=password],input[type=file]'

/**
 * Reloads a page of a former build when nothing is lost by it: at once, or when the page is hidden, but never while
 * something is pending or typed that could not be restored. A navigation loads a document anyway.
 * @returns a function to call after an answer of another build; its argument is whether the page shows nothing that the
 * visitor should read first.
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
