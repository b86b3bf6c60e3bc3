import type { Controls } from './drafts.ts'

/**
 * Keeps what a visitor has typed: for each history entry, as browsers do for documents, and for a page that was taken
 * away from the visitor, until it is shown again. Drops it when somebody else signs in.
 */
export interface DraftKeeper {
  /**
   * Call this directly before a document is loaded.
   * @param pathname of that document; default: the page on screen.
   */
  save(pathname?: string): void
  /**
   * The page on screen is still in the document.
   * @param caught set if only a part of the page is about to be replaced: the kind of fallback of a segment, or empty.
   */
  leaving(caught?: string): void
  /**
   * The page, or other data of it, is in the document.
   * @param kind of the fallback that replaces it; empty for a page.
   * @param isTraversal whether the visitor has moved in the history.
   */
  arrived(kind: string, isTraversal: boolean): void
  /**
   * An answer has told for which sessions it was made.
   * @param marks as `session-marks.ts` has them; of another tab, what it knew before and a line break precede them.
   * @param isCall whether the visitor has called an action.
   */
  learn(marks: string | undefined, isCall?: boolean): void
}

/** What it is made of. */
export interface DraftKeeperParts {
  readonly window: Window & typeof globalThis
  /** Of the session; `undefined` if the browser provides none. */
  readonly storage: Storage | undefined
  /** Its key for drafts. */
  readonly name: string
  /** Path of the page on screen; the address bar may be ahead of it. */
  readonly pathname: () => string
  /** Key of the history entry on screen. */
  readonly key: () => string
  /** Kind of the fallback that the document shows; empty for a page. */
  readonly kind: string
  /** Sessions of the last answer, as `session-marks.ts` has them. */
  readonly marks: string | undefined
  /** Controls that a visitor has typed in. */
  readonly typed: Controls
}

const STORAGE_KEY = 'millrace:drafts'
const MAX_HEARD = 4096 // characters; marks of two dozen sessions, twice

/**
 * The part of drafts in the router's own code: the rest is loaded for pages with something to type in, as soon as they
 * are on screen, and for those that read a session: the next document may not say whose the tab is.
 */
export function createDraftStarter(
  parts: Omit<DraftKeeperParts, 'name' | 'kind' | 'typed'> & {
    readonly kind: () => string
    /** Between the tabs, which tell each other the marks that they learn, as texts. */
    readonly channel: BroadcastChannel
  },
): DraftKeeper {
  const { window, storage, channel } = parts
  const { document } = window
  const typed: Controls = new WeakSet()
  let { marks } = parts
  let loading: Promise<void> | undefined
  let keeper: DraftKeeper | undefined

  function load(): void {
    loading ??= import('./draft-keeper.ts').then(
      ({ keepDrafts }) => void (keeper = keepDrafts({ ...parts, name: STORAGE_KEY, kind: parts.kind(), marks, typed })),
      () => void (loading = undefined), // the next page, or key, tries again
    )
  }

  function look(): void {
    if (marks || document.querySelector('input,textarea,select')) load()
  }

  document.addEventListener(
    'input',
    ({ target }) => {
      if (target) typed.add(target)
      load()
    },
    { capture: true, passive: true },
  )
  channel.addEventListener('message', ({ data }) => {
    if (typeof data !== 'string' || data.length > MAX_HEARD) return
    marks = data.slice(data.indexOf('\n') + 1)
    keeper?.learn(data)
  })
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel reaches its own origin only
  const tell = (former = ''): void => channel.postMessage(`${former}\n${marks}`)
  if (marks) tell()
  if (storage?.getItem(STORAGE_KEY)) load()
  else if (document.readyState === 'complete') look()
  else window.addEventListener('load', look, { once: true })
  return {
    save: (pathname) => keeper?.save(pathname),
    leaving: (caught) => keeper?.leaving(caught),
    arrived(kind, isTraversal) {
      keeper?.arrived(kind, isTraversal)
      look()
    },
    learn(news = marks, isCall) {
      const former = marks
      marks = news
      if (former !== marks) tell(former)
      keeper?.learn(news, isCall)
    },
  }
}
