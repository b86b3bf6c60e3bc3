import type { NavigationRun } from './navigation-run.ts'
import type { RouterParts, RouterState } from './router-parts.ts'

/** Whether the page on screen is of a former session. It does not stay, even if nothing else can be had. */
export interface FormerPage {
  readonly isShown: boolean
  /** Its data has been loaded again. */
  over(): void
}

/** Whoever comes next is not asked about what the former user has left, and gets nothing that components hold of it. */
export function createFormerPage(
  { window, listeners }: Pick<RouterParts, 'window' | 'listeners'>,
  state: Pick<RouterState, 'screen' | 'given' | 'former' | 'owner'>,
  run: Pick<NavigationRun, 'render'>,
): FormerPage {
  /** If another reload takes over, it stays so. */
  let visit: RouterState['screen']['visit'] | undefined
  const { document } = window
  document.addEventListener('millrace:former', () => {
    ;({ visit } = state.screen)
    listeners.unasked = true
    startAgain()
  })
  /** At once, with the data that is there: a component shows and sends what it holds until then. @param isOfNext this is the next user's data. */
  function startAgain(isOfNext?: boolean): void {
    const { given, screen } = state
    if (!isOfNext) state.former = given.view
    // A boundary that starts again would show its page in place of the fallback.
    if (given.fallback) return
    state.owner = (state.owner ?? 0) + 1
    run.render(given === screen ? { ...screen, arrival: undefined } : given)
  }
  const over = (): void => {
    visit = undefined
    listeners.unasked = false
  }
  document.addEventListener('millrace:emptied', ({ detail: isOfNext }: CustomEventInit) => startAgain(isOfNext))
  document.addEventListener('millrace:back', ({ detail: isFormer }: CustomEventInit) => {
    // The page may still be that of somebody before.
    if (isFormer) return
    state.former = undefined
    over()
  })
  return {
    get isShown() {
      return visit === state.screen.visit
    },
    over,
  }
}
