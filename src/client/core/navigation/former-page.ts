import type { RouterParts, RouterState } from './router-parts.ts'

/** Whether the page on screen is of a former session. It does not stay, even if nothing else can be had. */
export interface FormerPage {
  readonly isShown: boolean
  /** Its data has been loaded again. */
  over(): void
}

/** Whoever comes next is not asked about what the former user has left. */
export function createFormerPage(
  { window, listeners }: Pick<RouterParts, 'window' | 'listeners'>,
  state: Pick<RouterState, 'screen' | 'isFormer'>,
): FormerPage {
  /** If another reload takes over, it stays so. */
  let visit: RouterState['screen']['visit'] | undefined
  const { document } = window
  document.addEventListener('millrace:former', () => {
    ;({ visit } = state.screen)
    listeners.unasked = true
    state.isFormer = true
  })
  const over = (): void => {
    visit = undefined
    listeners.unasked = false
  }
  document.addEventListener('millrace:emptied', () => (state.isFormer = true))
  document.addEventListener('millrace:back', () => {
    state.isFormer = false
    over()
  })
  return {
    get isShown() {
      return visit === state.screen.visit
    },
    over,
  }
}
