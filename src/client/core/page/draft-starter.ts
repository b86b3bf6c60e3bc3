import { changesOf, mergeMarks } from '../../../shared/protocol/session-marks.ts'
import type { Controls, DraftKeeper, DraftKeeperParts } from './drafts.ts'
import { createSessionNews, doubtSessions, type SessionNews } from './session-news.ts'

// Other applications of this origin have another one.
const STORAGE_KEY = `millrace:drafts${globalThis.MILLRACE_BASE_PATH || ''}`
const MAX_UNTOLD = 16

/**
 * The part of drafts in the router's own code: the rest is loaded for pages with something to type in, as soon as they
 * are on screen, and for those that read a session: the next document may not say whose the tab is.
 */
export function createDraftStarter(
  parts: Omit<DraftKeeperParts, 'name' | 'kind' | 'typed' | 'now' | 'isOthers' | 'isFormer'> & {
    readonly kind: () => string
    /** Whether the page on screen has actions: the next user must not send what a former one has called. */
    readonly hasActions: () => boolean
    /** As for `createSessionNews`. */
    readonly isFromCache: boolean
    /** Whether a redirect of this origin has led to the document. */
    readonly isRedirected: boolean
    readonly channel: BroadcastChannel
  },
): DraftKeeper & Pick<SessionNews, 'follow'> & { pageSessions(): string } {
  const { window, storage } = parts
  const { document } = window
  const typed: Controls = new WeakSet()
  const marks = mergeMarks('', parts.marks)
  if (parts.isRedirected) doubtSessions({ ...parts, marks })
  const sessions = createSessionNews({ ...parts, marks, judge })
  let loading: Promise<void> | undefined
  let keeper: DraftKeeper | undefined
  /** What the keeper hears once it has loaded: it knows whose calls and typed text are. */
  const untold: string[] = []

  function load(): void {
    loading ??= import('./draft-keeper.ts').then(
      ({ keepDrafts }) => {
        const now = (): string => sessions.ofPage
        const isOthers = (former: string): boolean => changesOf(former, mergeMarks(former, sessions.marks()))[1]
        keeper = keepDrafts({
          ...parts,
          name: STORAGE_KEY,
          kind: parts.kind(),
          marks: sessions.first,
          isFormer: sessions.isFormer,
          typed,
          now,
          isOthers,
        })
        for (const news of untold.splice(0)) keeper.learn(news)
      },
      () => void (loading = undefined), // the next page, or key, tries again
    )
  }

  function judge(news: string): void {
    if (keeper) return void keeper.learn(news)
    if (!news || untold.length > MAX_UNTOLD) return
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
    pageSessions: sessions.opened,
    follow: sessions.follow,
    learn: (news, isCall, startedAt = Infinity, hasLeft) => sessions.learn(news, isCall, startedAt, hasLeft),
  }
}
