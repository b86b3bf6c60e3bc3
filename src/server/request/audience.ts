import { NotedSessions, type PageUsers } from './noted-sessions.ts'
import type { LearnedSlots } from './learned-slots.ts'

/** Part of the URL for caches, known to them without `Vary`, or of one request alone, as its trace is. */
const OF_ANY_ANSWER: ReadonlySet<string> = new Set(
  [
    ['host', 'range'],
    ['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', 'if-range'],
    ['request-id', 'x-request-id', 'correlation-id', 'x-correlation-id', 'cf-ray'],
    ['traceparent', 'tracestate', 'baggage', 'sentry-trace', 'uber-trace-id'],
    ['b3', 'x-b3-traceid', 'x-b3-spanid', 'x-b3-parentspanid', 'x-b3-sampled', 'x-b3-flags'],
    ['x-amzn-trace-id', 'x-cloud-trace-context', 'elastic-apm-traceparent'],
    ['x-amz-cf-id', 'x-azure-ref', 'x-vercel-id', 'fly-request-id', 'x-varnish', 'via'],
    ['x-datadog-trace-id', 'x-datadog-parent-id', 'x-datadog-sampling-priority'],
  ].flat(),
)

/** Whether a header, in lower case, may tell visitors apart in a way that caches do not know of. */
export function tellsVisitors(lower: string): boolean {
  return !OF_ANY_ANSWER.has(lower)
}

/** For whom an answer is, as noted by what has looked at the visitor. Caches and browsers keep the answer accordingly. */
export class Audience {
  /** The route has a guard: the answer is for this visitor alone. */
  guarded = false
  /** The answer is a variant of the page, chosen by what caches in front may not know. */
  ofVariant = false
  /** The verdict of the guards depends on the query: the browser must ask for each URL. */
  guardedByQuery = false
  /** The first visitor data that was read: a cookie, the request with its headers, the address; `origin` if only that. */
  personal: string | undefined = undefined
  /** Whether the visitor has a cookie that was read; `undefined` if none was. */
  hasOwnCookie: boolean | undefined = undefined
  /** Whether the visitor has sent an `Authorization`, and it was read. */
  hasOwnAuthorization = false
  /** Whether `context.locals` were read. */
  ofLocals = false
  /** Whether the visitor's address was read: for the answer, for a limit or for the log, nobody knows. */
  ofAddress = false
  /** Other headers that were read, in lower case, and whether the visitor has sent them. */
  headers: Map<string, boolean> | undefined = undefined
  /** The sessions that were opened; `undefined` if there is none. */
  sessions: NotedSessions | undefined = undefined

  /** Who may have made this call. */
  #ofPage: PageUsers | undefined = undefined

  /** Sessions that are being opened. */
  #opening: Set<Promise<unknown>> | undefined = undefined

  /** The `Vary` of a head that is sent and lets caches give the answer to others; `undefined` for any other answer. */
  sharedBy: string | undefined = undefined
  /** Whether only a rule or middleware wants the answer of a handler shared: they do not know what it reads. */
  isRuled = false

  /** Those that functions `visitor` get because they are opened before these run; by kind. */
  openedAhead: ReadonlyMap<object, Promise<unknown>> | undefined = undefined

  /** Learns from slots; absent unless the page is kept. */
  learned: LearnedSlots | undefined = undefined

  /** Notes that a header was read for which `tellsVisitors` holds. */
  noteHeader(lower: string, isSent: boolean): void {
    if (lower === 'cookie') this.hasOwnCookie = this.hasOwnCookie === true || isSent
    else if (lower === 'authorization') this.hasOwnAuthorization ||= isSent
    else (this.headers ??= new Map()).set(lower, isSent)
  }

  /** Notes for which session of a kind the answer is made. */
  noteSession(...noted: Parameters<NotedSessions['note']>): void {
    this.openSessions().note(...noted)
  }

  /** Whether a session was looked for, found or not. */
  get hasLookedForSession(): boolean {
    return this.sessions !== undefined && this.sessions.marks !== ''
  }

  /** Whether a session is being opened. */
  get isOpening(): boolean {
    return this.#opening !== undefined && this.#opening.size > 0
  }

  /** Notes that a session is being opened. Call it before anything else waits for that. */
  noteOpening(opening: Promise<unknown>): void {
    const all = (this.#opening ??= new Set())
    all.add(opening)
    const leave = (): void => void all.delete(opening)
    opening.then(leave, () => {
      leave()
      // Whose the answer would have been is not known.
      this.guarded = true
    })
  }

  /** Settles when no session is being opened. Does not reject. */
  async whenOpened(): Promise<void> {
    while (this.isOpening) await Promise.allSettled(this.#opening ?? [])
  }

  /** The opened sessions, and those that follow. */
  openSessions(): NotedSessions {
    return (this.sessions ??= new NotedSessions(this.#ofPage))
  }

  /** @param ofPage who may have made this call. @throws {RefusalSignal} if middleware has found the session of another user. */
  expectUsers(ofPage: PageUsers): void {
    this.#ofPage = ofPage
    this.sessions?.expect(ofPage)
  }
}
