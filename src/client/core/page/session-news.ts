import { changesOf, MARK, mergeMarks } from '../../../shared/protocol/session-marks.ts'

// Other applications of this origin have other ones.
const STORAGE_KEY = `millrace:sessions${globalThis.MILLRACE_BASE_PATH || ''}`
const ASKED_MS = 10_000
const MOST_ASKED = 5 // in that time; nobody signs in more often
const EXPIRED = '?' // before the marks that other tabs get of a session that no user has left
const MAX_FORMER = 16
const MAX_HEARD = 4096 // characters; marks of two dozen sessions, twice

/** What a tab knows of the sessions of its browser. */
export interface SessionNews {
  /** Of the last answers to this browser, in any tab. */
  marks(): string
  /** Those that say who was there when this was created, not whose a document from the browser's cache is. */
  readonly first: string
  /** Whether the document is of a user who had left then. */
  readonly isFormer: boolean
  /**
   * Those of them that say whose this page is: of the sessions that it has opened, or of all if it has opened none; of these
   * those with a user, or all that it has opened if none has one.
   */
  readonly ofPage: string
  /** Of the sessions that answers to this page have opened; what others have told may be long over. */
  opened(): string
  /** As `DraftKeeper.learn`. @returns whether the answer came too late: its sessions were others before it. */
  learn(news: string | undefined, isCall: boolean | undefined, startedAt: number, hasLeft?: boolean): boolean
  /**
   * As `learn`, with what an event stream has told of its users. The page asks again if it is not theirs, and without news, if
   * the stream is refused: the session of the page may have ended.
   */
  follow(news: string | undefined, startedAt: number): void
}

type Learning = Omit<SessionNews, 'follow'>

interface SessionNewsParts {
  readonly window: Window & typeof globalThis
  /** Between the tabs, which send each other the marks that they learn, as texts. */
  readonly channel: BroadcastChannel
  /** Of the document. */
  readonly marks: string
  /** Whether the browser has shown the document again from its cache, however old. */
  readonly isFromCache: boolean
  /** Judges by it whose calls and typed text are. */
  judge(news: string): void
}

/** Compares the sessions of answers, other tabs and former documents. */
export function createSessionNews(parts: SessionNewsParts): SessionNews {
  const { window, channel, marks: first, isFromCache, judge } = parts
  const [since, last] = keptMarks(window)
  // What is typed on a page that opens no session is its user's, too.
  let marks = mergeMarks(last, first)
  /** Of the sessions that this document has opened. */
  let opened = first
  let otherSince = 0
  const askAgain = createAsking(channel)
  /** Those of former sessions, the latest `MAX_FORMER`. */
  const formerMarks: string[] = []

  // Event streams and fetchers belong to a session. Others receive what an answer to this tab has told.
  /** @returns whether the user of this page has left. */
  function know(news: string, isOwn?: boolean): boolean {
    const former = marks
    marks = mergeMarks(former, news)
    if (former === marks) return false
    const [isOther] = changesOf(former, marks)
    const isFormer = changesOf(ofPage(former), ofPage(marks))[1]
    if (isOther) {
      otherSince = Date.now()
      if (formerMarks.push(former) > MAX_FORMER) formerMarks.shift()
    }
    window.document.dispatchEvent(new CustomEvent('millrace:session', { detail: isOther }))
    if (isFormer) window.document.dispatchEvent(new Event('millrace:former'))
    if (isOwn) tell(parts, former, news)
    // What this tab holds is of a former session.
    else if (isOther) askAgain(isFormer)
    return isFormer
  }
  function hear(data: unknown): void {
    if (typeof data !== 'string' || data.length > MAX_HEARD) return
    const at = data.indexOf('\n') + 1
    const told = data.slice(at)
    expiry.end(told, data[0] !== EXPIRED)
    const news = expiry.without(told)
    know(news)
    judge(ofPage(data.slice(0, at).replace(EXPIRED, '') + news))
  }

  /** Those of the sessions that this document has opened, or all if it has opened none: an admin's session is nothing to others. */
  function ofPage(text: string): string {
    return lines(text, (name) => !opened || namesOf(opened).has(name))
  }

  channel.addEventListener('message', ({ data }) => hear(data))
  window.addEventListener('pageshow', ({ persisted }) => {
    if (!persisted) return
    expiry.clear()
    hear(`\n${keptMarks(window)[1]}`)
  })
  // A document that was asked for before a session became another may arrive after it. It is no news then. A time that lies
  // ahead is none: the clock was wrong.
  const isLate = isFromCache || (since > Date.now() - performance.now() && since <= Date.now())
  const latest = isLate ? mergeMarks(first, last) : marks
  // Of those that this document has not opened, it knows only what a former one has heard.
  const expiry = createExpiry(isLate ? '' : textOf(last, (name) => !namesOf(first).has(name)))
  const [isBehind, isFormer] = changesOf(first, latest)
  if (isLate && isBehind) setTimeout(hear, 0, `\n${last}`)
  // Browsers throw away a page that they have kept as it was when it hears something.
  else if (mergeMarks(last, first) !== last) tell(parts, '', first)

  const allMarks = (): string => mergeMarks(keptMarks(window)[1], marks)

  const sessions: Learning = {
    marks: allMarks,
    first: ofPage(latest),
    isFormer,
    opened: () => opened,
    get ofPage() {
      return namedOr(opened, ofPage(allMarks()))
    },
    learn(answered, isCall, startedAt, hasLeft) {
      // What was asked for before is of the former session. What the visitor has called may have begun the next one.
      const isBefore = startedAt < otherSince
      const told = isBefore && answered !== undefined ? withoutFormer(answered, formerMarks) : answered
      if (isBefore && (!isCall || !told)) return false
      const news = told ?? marks
      // Or of one that this document has not opened, so that it cannot compare.
      const later = heardLater(window, news, opened, startedAt)
      if (later) {
        const former = marks
        hear(`\n${later.kept}`)
        if (!changesOf(former, marks)[0]) askAgain(true)
        return later.isFormer
      }
      const openedBefore = opened
      opened = mergeMarks(opened, told)
      const ended = told && expiry.end(told, hasLeft === true)
      if (ended) tell(parts, EXPIRED + marks, ended)
      const current = told === undefined ? marks : expiry.without(told)
      // The router asks again by itself if a session that it has opened becomes another, and after calls.
      if (know(current, true) && !isCall && !changesOf(openedBefore, opened)[0]) askAgain(true)
      judge(ofPage(current))
      return false
    },
  }
  return Object.assign(sessions, { follow: createFollowing(sessions, askAgain) })
}

/** Of streams, nobody asks again. */
function createFollowing({ opened, learn }: Learning, askAgain: (isFormer: boolean) => void): SessionNews['follow'] {
  return (told, startedAt) => {
    const before = opened()
    learn(told, false, startedAt)
    if (told === undefined ? before : changesOf(before, opened())[0]) askAgain(true)
  }
}

/**
 * A redirect has led to this document, which says nothing of a session that the browser remembers: a handler may have ended it, and
 * its own answer says nothing. Other tabs ask the server. The browser takes it for ended until an answer names it: pages that ask
 * nothing must not show what its user has typed.
 */
export function doubtSessions({
  window,
  channel,
  marks,
}: Pick<SessionNewsParts, 'window' | 'channel' | 'marks'>): void {
  const told = namesOf(marks)
  const [since, kept] = keptMarks(window)
  const ends = Array.from(kept.matchAll(MARK), ([, name, id]) => (id === '-' || told.has(name) ? '' : `${name}:- `))
  const doubted = ends.join('')
  if (!doubted) return
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel reaches its own origin only
  channel.postMessage(['/*', true])
  // It is no news.
  keepMarks(window, doubted, since)
}

/**
 * Nobody leaves a page because a session turns out to have ended before it was loaded. What is typed there stays that user's: it
 * goes if somebody else signs in.
 * @param marks of sessions that may have ended.
 */
function createExpiry(marks: string) {
  const unsure = namesOf(marks)
  const expired = new Set<string | undefined>()
  return {
    clear: () => expired.clear(),
    /** @returns the marks of those that have ended now. @param hasLeft because their user has left, even if another answer came first. */
    end(told: string, hasLeft: boolean): string {
      if (hasLeft) for (const name of namesOf(told)) expired.delete(name)
      const ended = textOf(told, (name, _, id) => unsure.delete(name) && id === '-' && !hasLeft)
      for (const name of namesOf(ended)) expired.add(name)
      return ended
    },
    /** Leaves out their ends, which do not concern the page. */
    without(told: string): string {
      if (expired.size === 0) return told
      return textOf(told, (name, _, id) => (id === '-' ? !expired.has(name) : expired.delete(name) || true))
    },
  }
}

/** Without what was so before: of each session for itself, because a call may have begun one while others have changed. */
function withoutFormer(news: string, formerMarks: readonly string[]): string {
  return textOf(news, (name) => !formerMarks.some((one) => isSame(one, news, name)))
}

/** Whether the first text has the session, and the second one no other. */
function isSame(former: string, news: string, name: string | undefined): boolean {
  const own = textOf(former, (one) => one === name)
  return own !== '' && !changesOf(own, mergeMarks(own, news))[0]
}

/** What another tab has heard of sessions that this document has not opened, if that is newer than what was asked for. */
function heardLater(window: Window, news: string, opened: string, startedAt: number) {
  const [changed, kept] = keptMarks(window)
  const unknown = textOf(news, (name) => !namesOf(opened).has(name))
  const [isOther, isFormer] = changesOf(unknown, mergeMarks(unknown, kept))
  return isOther && startedAt < changed && changed <= Date.now() ? { kept, isFormer } : undefined
}

/** Of all marks those with a user, or all if none has one and the page has opened some. */
function namedOr(opened: string, all: string): string {
  const named = textOf(all, (_, users) => users !== '')
  return named || opened === '' ? named : all
}

/** Tells the tabs that are open, and those that open later. */
function tell({ window, channel }: SessionNewsParts, former: string, news: string): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel reaches its own origin only
  channel.postMessage(`${former}\n${news}`)
  keepMarks(window, news)
}

/**
 * As if another tab had dropped everything. A server that begins another session with each answer would be asked without
 * end by two tabs.
 */
function createAsking(channel: BroadcastChannel): (isFormer: boolean) => void {
  let asked: readonly number[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  return (isFormer) => {
    const now = Date.now()
    asked = [...asked.filter((at) => at > now - ASKED_MS), now]
    const ask = (): void => {
      timer = void channel.dispatchEvent(new MessageEvent('message', { data: ['/*', isFormer] }))
    }
    if (asked.length <= MOST_ASKED) ask()
    else timer ??= setTimeout(ask, ASKED_MS)
  }
}

/** Those marks of each line for which this holds. */
function lines(text: string, isIn: Parameters<typeof textOf>[1]): string {
  return text
    .split('\n')
    .map((part) => textOf(part, isIn))
    .join('\n')
}

function namesOf(marks: string): Set<string | undefined> {
  return new Set(Array.from(marks.matchAll(MARK), ([, name]) => name))
}

/** Those marks for which this holds. */
function textOf(
  marks: string,
  isIn: (name: string | undefined, users: string | undefined, id: string | undefined) => boolean,
): string {
  return [...marks.matchAll(MARK)].map(([mark, name, id, users]) => (isIn(name, users, id) ? `${mark} ` : '')).join('')
}

/** What this browser was last told of its sessions in any tab, also in one that is closed, and when. Empty if it does not keep it. */
function keptMarks(window: Window): readonly [since: number, marks: string] {
  try {
    const [, since, marks = ''] = /^(\d+) (.{0,4096})$/.exec(window.localStorage.getItem(STORAGE_KEY) ?? '') ?? []
    return [Number(since), marks]
  } catch {
    return [0, '']
  }
}

function keepMarks(window: Window, news: string, since = Date.now()): void {
  const [, former] = keptMarks(window)
  const marks = mergeMarks(former, news)
  if (marks === former) return
  try {
    const { localStorage } = window
    try {
      localStorage.setItem(STORAGE_KEY, `${since} ${marks}`)
    } catch {
      // It is full. What it holds of them is not true any more.
      localStorage.removeItem(STORAGE_KEY)
    }
  } catch {
    // It is forbidden.
  }
}
