import { withBasePath } from '../../../shared/base-path.ts'
import { hrefOf, withoutHash } from '../data/local-href.ts'

/** One history entry of this tab that this application made. */
interface StackEntry {
  /** Unique; survives reloads. Key of its scroll positions. */
  readonly key: string
  /** Index among the entries of its document, from 0. */
  readonly index: number
}

/** The visitor, or `go`, has moved to another entry of this document. */
export interface Traversal {
  /** Path, query and fragment of the address bar. */
  readonly href: string
  readonly entry: StackEntry
  /** Distance in entries: negative is back. */
  readonly delta: number
}

/** The history of this tab. */
export interface HistoryStack {
  /** The entry of the address bar. */
  readonly current: StackEntry
  /**
   * Key of the entry to which the page on screen belongs; empty before `settle`. The address bar may be ahead of it.
   */
  readonly shown: string
  /** Whether the browser itself restores the window's scroll position of the loaded document. */
  readonly restoresScroll: boolean
  /** Adds an entry after the current one; later ones are dropped. `href` must be of this origin. */
  push(href: string): StackEntry
  /** Replaces the current entry. `href` must be of this origin. */
  replace(href: string): StackEntry
  /** Records that the page of the current entry is on screen. */
  settle(): void
  /** Moves by entries; the listener is called later, unless there is no such entry. */
  go(delta: number): void
  /**
   * Undoes a traversal, without calling the listener. Resolves when done, or when a `push` or `replace` has made it
   * pointless.
   */
  revert(traversal: Traversal): Promise<void>
  /**
   * Sets the listener; there is one at a time.
   * @param onFragment called with an entry that the browser made for a move inside the page on screen: path, query,
   * fragment.
   * @param onMade called when other code has made an entry for the page on screen, while `shown` is still the previous
   * one. Called before the browser scrolls, so the position of the previous entry can still be recorded. Needs the
   * Navigation API; without it, Safari reports an entry for a fragment only after it has scrolled.
   */
  listen(onTraverse: (traversal: Traversal) => void, onFragment?: (href: string) => void, onMade?: () => void): void
}

/** A pending move back to an entry. */
interface Reversal {
  readonly index: number
  readonly arrive: () => void
}

/** Our member of `history.state`; the others are the application's. */
const MEMBER = 'millrace'

/**
 * Tracks the entries of this tab in `history.state`, and takes over scroll restoration once the browser has restored
 * the position after a load. Entries made by other code are adopted: at once if the browser reports them (Navigation
 * API), otherwise when they are next visited.
 * @param newKey returns a different text at every call.
 */
export function createHistoryStack(window: Window, newKey: () => string): HistoryStack {
  const { history, location } = window
  const restoresScroll = history.scrollRestoration === 'auto'
  const { navigation } = window as { readonly navigation?: Navigation }
  let current = entryOf(history.state) ?? adopt({ key: newKey(), index: 0 })
  let href = hrefOf(location)
  let reversal: Reversal | undefined
  let [onTraverse, onFragment, onMade]: Partial<Parameters<HistoryStack['listen']>> = []
  let shown = ''

  function adopt(entry: StackEntry): StackEntry {
    history.replaceState({ ...history.state, [MEMBER]: entry }, '')
    return entry
  }

  function arriveAt(entry: StackEntry): void {
    current = entry
    href = hrefOf(location)
  }

  /** Adopts an entry that other code has made; `replaced` if it replaces the current one. */
  function adoptForeign(replaced = hrefOf(location) === href): void {
    if (!entryOf(history.state)) arriveAt(adopt(replaced ? current : { key: newKey(), index: current.index + 1 }))
  }

  // If the address bar is ahead of the page, the browser would record that page's position for the entry.
  const takeScrolling = takeScrollingOver(window, () => shown !== '' && shown !== current.key)

  /** @param step distance from the current entry. */
  function write(step: 0 | 1, to: string): StackEntry {
    adoptForeign()
    const entry = { key: newKey(), index: current.index + step }
    takeScrolling()
    reversal?.arrive()
    reversal = undefined
    history[step ? 'pushState' : 'replaceState']({ [MEMBER]: entry }, '', withBasePath(to))
    arriveAt(entry)
    return entry
  }

  window.addEventListener('popstate', () => {
    takeScrolling()
    const from = current
    const left = href
    const known = entryOf(history.state)
    if (known) arriveAt(known)
    else adoptForeign()
    if (reversal) {
      if (current.index !== reversal.index) return history.go(reversal.index - current.index)
      reversal.arrive()
      reversal = undefined
      return
    }
    if ((!known || (navigation && known.key === from.key)) && withoutHash(href) === withoutHash(left)) {
      shown = current.key
      return onFragment?.(href)
    }
    // Back from entries that were not reported: at least one.
    onTraverse?.({ href, entry: current, delta: current.index - from.index || (known ? -1 : 0) })
  })
  navigation?.addEventListener('currententrychange', ({ navigationType }) => {
    if (navigationType === 'replace') adoptForeign(true)
    if (navigationType !== 'push') return
    const made = entryOf(history.state)
    // Our entry has its own key by now; code that copies a state also copies our member.
    if (made && made.key !== current.key) return
    arriveAt(adopt({ key: newKey(), index: current.index + 1 }))
    onMade?.()
    shown = current.key
  })

  return {
    get current() {
      adoptForeign()
      return current
    },
    get shown() {
      return shown
    },
    restoresScroll,
    settle() {
      adoptForeign()
      shown = current.key
    },
    push: (to) => write(1, to),
    replace: (to) => write(0, to),
    go: (delta) => history.go(delta),
    revert({ entry, delta }) {
      return new Promise((arrive) => {
        if (delta === 0) return arrive()
        reversal?.arrive()
        reversal = { index: entry.index - delta, arrive }
        history.go(reversal.index - current.index)
      })
    },
    listen(...listeners) {
      ;[onTraverse, onFragment, onMade] = listeners
    },
  }
}

/**
 * Takes over scroll restoration once the browser has restored the position after a load, and returns it when the
 * document is left: the next load of this entry restores the position again.
 * @param isAhead whether to keep it then.
 * @returns takes it over at once.
 */
function takeScrollingOver(window: Window, isAhead: () => boolean): () => void {
  const { history, document } = window
  const take = (): void => {
    history.scrollRestoration = 'manual'
  }
  // Earlier, the browser would not restore the position.
  if (document.readyState === 'complete') take()
  else window.addEventListener('load', () => window.setTimeout(take))
  window.addEventListener('pagehide', () => {
    history.scrollRestoration = isAhead() ? 'manual' : 'auto'
  })
  // Safari restores the position of a page from its back/forward cache only after this event.
  window.addEventListener('pageshow', ({ persisted }) => persisted && window.setTimeout(take))
  return take
}

function entryOf(state: unknown): StackEntry | undefined {
  const entry = (state as { [MEMBER]?: Partial<StackEntry> } | null)?.[MEMBER]
  return typeof entry?.key === 'string' && Number.isInteger(entry.index) ? (entry as StackEntry) : undefined
}
