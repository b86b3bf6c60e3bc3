import type { NavigationRun } from './navigation-run.ts'
import type { RouterParts, RouterState } from './router-parts.ts'

const LONGEST_LOCK_MS = 20_000 // then the document is loaded: a component may wait for ever
/** A modal dialog stays usable in a page that is inert, keys reach the window, and the field that had the focus loses it. */
const OF_VISITORS =
  'focus blur focusin focusout keydown keypress keyup beforeinput input change click auxclick contextmenu mousedown mouseup ' +
  'pointerdown pointerup touchstart touchend submit reset cut paste drop'
/** Keys are the browser's too, and a touch is followed by what can be prevented. */
const NOT_PREVENTED = /^(?:key|touch)/

/** Whether the page on screen is of a former session. It does not stay, even if nothing else can be had. */
export interface FormerPage {
  readonly isShown: boolean
  /** Its data has been loaded again. */
  over(): void
  /** The next user's data is on screen, or a fallback. */
  unlock(): void
}

/**
 * Whoever comes next is not asked about what the former user has left, and cannot send what components hold of it: nothing on
 * the page can be pressed or typed in until they start again with the next user's data.
 */
export function createFormerPage(
  { window, listeners, leave }: Pick<RouterParts, 'window' | 'listeners' | 'leave'>,
  state: Pick<RouterState, 'screen' | 'given' | 'former' | 'owner' | 'changes'>,
  run: Pick<NavigationRun, 'render'>,
): FormerPage {
  let lock: { readonly focused: Element | null; readonly timer: ReturnType<typeof setTimeout> } | undefined
  const { document } = window

  function unlock(): void {
    if (lock === undefined) return
    clearTimeout(lock.timer)
    const { body, activeElement } = document
    body.inert = false
    if (activeElement === body) (lock.focused as HTMLElement | null)?.focus?.({ preventScroll: true })
    lock = undefined
  }
  const over = (): void => void (listeners.unasked = false)

  // Before components can add theirs.
  for (const type of OF_VISITORS.split(' ')) {
    window.addEventListener(
      type,
      (event) => {
        if (lock === undefined) return
        event.stopImmediatePropagation()
        if (!NOT_PREVENTED.test(type)) event.preventDefault()
      },
      true,
    )
  }

  document.addEventListener('millrace:former', () => {
    listeners.unasked = true
    state.former = state.given.view
    state.changes += 1
    lock ??= {
      focused: document.activeElement,
      timer: setTimeout(() => leave(state.screen.href, 'refresh'), LONGEST_LOCK_MS),
    }
    document.body.inert = true
  })
  document.addEventListener('millrace:emptied', ({ detail: isOfNext }: CustomEventInit) => {
    const { given, screen } = state
    if (!isOfNext) return void (state.former = given.view)
    // A boundary that starts again would show its page in place of the fallback.
    if (given.fallback) return
    state.owner = (state.owner ?? 0) + 1
    run.render(given === screen ? { ...screen, arrival: undefined } : given)
  })
  document.addEventListener('millrace:back', ({ detail: isFormer }: CustomEventInit) => {
    // The page may still be that of somebody before.
    if (isFormer) return
    state.former = undefined
    over()
    unlock()
  })
  return {
    get isShown() {
      return state.former !== undefined
    },
    over,
    unlock,
  }
}
