import { mergeMarks } from '../../../shared/protocol/session-marks.ts'
import type { Controls, DraftKeeper, DraftKeeperParts } from './drafts.ts'

const STORAGE_KEY = 'millrace:drafts'
const CHANGED_KEY = 'millrace:changed'
const MAX_UNTOLD = 16
const MARK = /(\S+?):([^ ~.]+)([^ ~]*)/g // as in `session-marks.ts`
const MAX_HEARD = 4096 // characters; marks of two dozen sessions, twice

/**
 * The part of drafts in the router's own code: the rest is loaded for pages with something to type in, as soon as they
 * are on screen, and for those that read a session: the next document may not say whose the tab is.
 */
export function createDraftStarter(
  parts: Omit<DraftKeeperParts, 'name' | 'kind' | 'typed'> & {
    readonly kind: () => string
    /** Whether the page on screen has actions: the next user must not send what a former one has called. */
    readonly hasActions: () => boolean
    /** Between the tabs, which tell each other the marks that they learn, as texts. */
    readonly channel: BroadcastChannel
  },
): DraftKeeper {
  const { window, storage, channel } = parts
  const { document } = window
  const typed: Controls = new WeakSet()
  const first = mergeMarks('', parts.marks)
  let marks = first
  let otherSince = 0

  /** Event streams and fetchers belong to a session. @param isOwn whether an answer to this tab has told them, and others receive them. */
  function know(news: string, isOwn?: boolean): void {
    const former = marks
    marks = mergeMarks(former, news)
    if (former === marks) return
    const [isOther, isFormer] = changesOf(former, marks)
    if (isOther) otherSince = Date.now()
    document.dispatchEvent(new CustomEvent('millrace:session', { detail: isOther }))
    if (isOwn) {
      tell(former, news)
      if (isOther) changedAt(window, otherSince)
    }
    // What this tab holds is of a former session: as if another tab had dropped everything.
    else if (isOther) askAgain(isFormer)
  }
  const askAgain = (isFormer: boolean): unknown =>
    channel.dispatchEvent(new MessageEvent('message', { data: ['/*', isFormer] }))
  let loading: Promise<void> | undefined
  let keeper: DraftKeeper | undefined
  /** What the keeper hears once it has loaded: it knows whose calls and typed text are. */
  const untold: Parameters<DraftKeeper['learn']>[] = []

  function load(): void {
    loading ??= import('./draft-keeper.ts').then(
      ({ keepDrafts }) => {
        keeper = keepDrafts({ ...parts, name: STORAGE_KEY, kind: parts.kind(), marks: first, typed })
        for (const news of untold.splice(0)) keeper.learn(...news)
      },
      () => void (loading = undefined), // the next page, or key, tries again
    )
  }

  function judge(...news: Parameters<DraftKeeper['learn']>): void {
    if (keeper) return keeper.learn(...news)
    if (!news[0] || untold.length > MAX_UNTOLD) return
    untold.push(news)
    load()
  }

  function look(): void {
    if (marks || parts.hasActions() || document.querySelector('input,textarea,select')) load()
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
    judge(data)
  })
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel reaches its own origin only
  const tell = (former: string, news: string): void => channel.postMessage(`${former}\n${news}`)
  // A document that was asked for before a session became another may arrive after it. It is no news then.
  const changed = changedAt(window)
  if (changed > Date.now() - performance.now() && changed <= Date.now()) setTimeout(askAgain, 0, true)
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
    learn(news = marks, isCall, startedAt = Infinity) {
      // What was asked for before is of the former session. What the visitor has called may have begun the next one.
      if (!isCall && startedAt < otherSince) return
      know(news, true)
      judge(news, isCall)
    },
  }
}

/**
 * Whether a session has become another, and whether it was one of a user who is not in it any more. A session that gets a
 * new id, with a user in common, is the same.
 */
function changesOf(former: string, marks: string): readonly [isOther: boolean, isFormer: boolean] {
  const sessions = new Map(Array.from(marks.matchAll(MARK), ([, name, id, users]) => [name, { id, users }]))
  let isOther = false
  let isFormer = false
  for (const [, name, id, users = ''] of former.matchAll(MARK)) {
    const now = sessions.get(name)
    const isSame = users
      .split('.')
      .slice(1)
      .some((user) => now?.users?.split('.').includes(user))
    if (isSame || (id === now?.id && users === now?.users)) continue
    isOther = true
    isFormer ||= id !== '-'
  }
  return [isOther, isFormer]
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
