import { mergeMarks } from '../../../shared/protocol/session-marks.ts'
import type { Controls, DraftKeeper, DraftKeeperParts } from './drafts.ts'

const STORAGE_KEY = 'millrace:drafts'
const CHANGED_KEY = 'millrace:changed'
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
  let marks = mergeMarks('', parts.marks)

  /** Event streams and fetchers belong to a session. @param isOwn whether an answer to this tab has told them, and others receive them. */
  function know(news: string, isOwn?: boolean): void {
    const former = marks
    marks = mergeMarks(former, news)
    if (former === marks) return
    const isOther = !marks.startsWith(former)
    document.dispatchEvent(new CustomEvent('millrace:session', { detail: isOther }))
    if (isOwn) {
      tell(former, news)
      if (isOther) changedAt(window, Date.now())
    }
    // What this tab holds is of a former session: as if another tab had dropped everything.
    else if (isOther) askAgain()
  }
  const askAgain = (): unknown => channel.dispatchEvent(new MessageEvent('message', { data: ['/*', true] }))
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
      typed.add(target as EventTarget) // of an event that has been dispatched
      load()
    },
    true,
  )
  channel.addEventListener('message', ({ data }) => {
    if (typeof data !== 'string' || data.length > MAX_HEARD) return
    know(data.slice(data.indexOf('\n') + 1))
    keeper?.learn(data)
  })
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel reaches its own origin only
  const tell = (former: string, news: string): void => channel.postMessage(`${former}\n${news}`)
  // A document that was asked for before a session became another may arrive after it. It is no news then.
  if (changedAt(window) > Date.now() - performance.now()) setTimeout(askAgain)
  else if (marks) tell('', marks)
  if (storage?.getItem(STORAGE_KEY)) load()
  else if (document.readyState === 'complete') look()
  else window.addEventListener('load', look)
  return {
    save: (pathname) => keeper?.save(pathname),
    leaving: (caught) => keeper?.leaving(caught),
    arrived(kind, isTraversal) {
      keeper?.arrived(kind, isTraversal)
      look()
    },
    learn(news = marks, isCall) {
      know(news, true)
      keeper?.learn(news, isCall)
    },
  }
}

/** When a session has last become another in any tab, also in one that is closed. 0 if the browser does not keep it. */
function changedAt(window: Window, now?: number): number {
  try {
    if (now !== undefined) window.localStorage.setItem(CHANGED_KEY, String(now))
    return Number(window.localStorage.getItem(CHANGED_KEY))
  } catch {
    return 0
  }
}
