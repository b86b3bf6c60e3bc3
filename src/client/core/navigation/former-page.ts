import type { NavigationKind } from '../../react/router-types.ts'
import type { RouterParts, RouterState } from './router-parts.ts'

/** Then the document is loaded: the server may not answer for ever. So long, too, another document may be on its way. */
const LONGEST_LOCK_MS = 20_000
/** The answer to a call of the page may bring the very session that is missing: a document would cancel it. */
const LONGEST_CALL_MS = 3_000
const LOOK_AGAIN_MS = 50
/** A server that begins another session with each answer, because the browser sends no cookie, would have it loaded without end. */
const YOUNGEST_MS = 3_000
/** A modal dialog stays usable in a page that is inert, keys reach the window, and the field that had the focus loses it. */
const OF_VISITORS =
  'focus blur focusin focusout keydown keypress keyup beforeinput input change click auxclick contextmenu mousedown mouseup ' +
  'dblclick wheel pointerdown pointerup touchstart touchend submit reset cut paste drop cancel close beforeunload'
/** Keys are the browser's too, a touch is followed by what can be prevented, and to prevent leaving is to ask. */
const NOT_PREVENTED = /^(?:key|touch|beforeun)/

/** The page of a user who has left. It does not stay, even if nothing else can be had. */
export interface FormerPage {
  /** Loads the page as a document: what components, timers and other scripts hold of the former user goes. */
  replace(): void
  /** Whether a navigation is not to begin: visitors cannot have asked for it. A reload is that of the document. */
  keepsFrom(kind: NavigationKind): boolean
  /** As `RouterParts.leave`: the page that is on its way then is not cancelled for this one. */
  readonly leave: RouterParts['leave']
}

/**
 * Whoever comes next is not asked about what the former user has left, and cannot send what components hold of it: nothing on
 * the page can be pressed or typed in until the next document.
 */
export function createFormerPage(
  { window, listeners, leave, now }: Pick<RouterParts, 'window' | 'listeners' | 'leave' | 'now'>,
  state: Pick<RouterState, 'screen' | 'former'>,
): FormerPage {
  let lock: { readonly focused: Element | null } | undefined
  let waiting: ReturnType<typeof setTimeout> | undefined
  let leftAt = Number.NEGATIVE_INFINITY
  let lockedAt = 0
  const { document } = window
  function replace(): void {
    clearTimeout(waiting)
    if (!state.former) return
    const isCalling = listeners.sent && now() < lockedAt + LONGEST_CALL_MS
    const wait = Math.max(leftAt + LONGEST_LOCK_MS - now(), restOfYouth(window), isCalling ? LOOK_AGAIN_MS : 0)
    if (wait > 0) waiting = setTimeout(replace, wait)
    else leaveNow(state.screen.href, 'refresh')
  }

  const leaveNow: RouterParts['leave'] = (...to) => {
    // Another one may turn out to be a download.
    if (state.former) leftAt = now()
    leave(...to)
  }

  function stop(): void {
    // Without cookies, no session is anybody's.
    if (!window.navigator.cookieEnabled) return
    listeners.unasked = state.former = true
    if (lock === undefined) {
      waiting = setTimeout(replace, LONGEST_LOCK_MS)
      lockedAt = now()
    }
    lock ??= { focused: document.activeElement }
    document.body.inert = true
  }

  function goOn(): void {
    listeners.unasked = state.former = false
    clearTimeout(waiting)
    if (lock === undefined) return
    const { body, activeElement } = document
    body.inert = false
    if (activeElement === body) (lock.focused as HTMLElement | null)?.focus?.({ preventScroll: true })
    lock = undefined
  }

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
  document.addEventListener('millrace:former', stop)
  document.addEventListener('millrace:emptied', ({ detail: isOfNext }: CustomEventInit) => {
    stop()
    if (isOfNext) replace()
  })
  // The page may still be that of somebody before.
  document.addEventListener('millrace:back', ({ detail: isFormer }: CustomEventInit) => isFormer || goOn())
  return {
    replace,
    keepsFrom(kind) {
      const isKept = state.former && kind !== 'traverse'
      if (isKept && kind === 'refresh') replace()
      return isKept
    },
    leave: leaveNow,
  }
}

/** Whether the document has just been loaded again. @returns milliseconds to wait. */
function restOfYouth({ performance }: Window): number {
  const [load] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
  return load?.type === 'reload' ? Math.max(0, YOUNGEST_MS - performance.now()) : 0
}
