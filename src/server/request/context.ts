import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import { refuseInReadScope } from '../stores/cache/read-scope.ts'
import type { LoaderContext } from '../api/loader-types.ts'
import { purposeOf, type ShedReason } from './request-kind.ts'
import type { RequestKind, DataRequest, HeadTiming, ActionTarget } from './request-kind.ts'
import type { ReportInbox } from '../api/report-inbox.ts'
import type { RequestSpan, ServerReporter } from './request-reporter.ts'
import type { RequestTrace } from './request-trace.ts'
import type { Secrets } from '../secrets/secrets.ts'
import type { ClientAddress } from '../http/trusted-proxy.ts'
import type { RandomText } from '../http/random-text.ts'
import { clientKey } from '../http/client-key.ts'
import { RequestLoaderContext } from './loader-context.ts'
import { toWebRequest } from './web-request.ts'
import type { DataCache } from '../stores/cache/data-cache.ts'
import type { IdempotencyStore } from '../stores/idempotency-store.ts'
import type { RateLimits, RateLimit, RateVerdict } from '../stores/rate-limits.ts'
import type { RedisLink } from '../stores/redis-link.ts'

const MOST_SPANS = 200 // of one request

/** Why a request's signal was aborted. */
export class RequestAborted extends Error {
  override readonly name = 'AbortError'
  /** `gone`: the client went away, which is no failure. `timeout`: the render's time is over. */
  override readonly cause: 'gone' | 'timeout'

  constructor(cause: 'gone' | 'timeout') {
    super(cause === 'gone' ? 'The client has gone away' : 'The render took longer than RENDER_TIMEOUT_MS')
    this.cause = cause
  }
}

/** What a request is made from. */
export interface RequestFacts {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** Normalised, still percent-encoded. */
  readonly pathname: string
  /** `''` or with its question mark. */
  readonly search: string
  readonly clientAddress: ClientAddress
  /** 32 hexadecimal digits, or a trusted proxy's own id for this request, already validated. */
  readonly requestId: string
  readonly log: Logger
  readonly newNonce: RandomText
  readonly services: RequestServices
  /** Absent if failures of this server are only logged. */
  readonly reporter?: ServerReporter | undefined
  /** Milliseconds, on the clock of `performance.now()`. */
  readonly startedAt: number
}

/**
 * What one request is: made once, handed on as an argument, changed by nobody but its own lazy members and, for route
 * data and actions, `askForData` and `callAction`. The costly members (web request, signal, logger, response headers) exist only if somebody asks
 * for them.
 */
export class RequestContext {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  #pathname: string
  #search: string
  #data: DataRequest | undefined = undefined
  #action: ActionTarget | undefined = undefined
  readonly clientAddress: ClientAddress
  readonly requestId: string
  readonly startedAt: number
  /** Pattern of the matched route, for the log. */
  route: string | undefined = undefined
  /** Why the request was refused before it reached a route, for the log. */
  refusal: string | undefined = undefined
  /** What is answered, for metrics. Data, prefetches and actions are known by their own members. */
  kind: Extract<RequestKind, 'document' | 'resource' | 'asset' | 'health' | 'relay' | 'other'> = 'other'
  /** Why there was no place for the request, for metrics. */
  shed: ShedReason | undefined = undefined
  /** Turn of the event loop in which it was last let go; see `admission/render-turns.ts`. */
  turn = 0
  /** How the time up to the head of a document or its data was spent, for metrics. */
  timing: HeadTiming | undefined = undefined
  /** The path holds dot segments: no page, rule or file may take it for anything. */
  hasDotSegments = false
  /** The request is for data of an untidy path, and this is its tidy form: the answer is a redirect there. */
  isTidied = false
  /** The answer is a redirect or a refusal, whatever its status says: no work worth tracing. */
  left = false
  /** The connection has gone over to another protocol: there is no answer, and how long it lasts is nobody's work. */
  switched = false
  /** Something of the visitor has been looked at: a cookie, the request with its headers, the address. */
  personal = false

  #reported: Set<string> | undefined = undefined
  readonly #parentLog: Logger
  readonly #newNonce: RandomText
  readonly services: RequestServices
  readonly reporter: ServerReporter | undefined
  #trace: RequestTrace | undefined = undefined
  #spans: RequestSpan[] | undefined = undefined
  #log: Logger | undefined = undefined
  #controller: AbortController | undefined = undefined
  #aborted: RequestAborted | undefined = undefined
  #onFinish: (() => void)[] = []
  #onAbort: ((reason: RequestAborted) => void)[] = []
  #deadline: NodeJS.Timeout | undefined = undefined
  #request: Request | undefined = undefined
  #nonce: string | undefined = undefined
  #loaderContext: RequestLoaderContext | undefined = undefined

  constructor(facts: RequestFacts) {
    this.req = facts.req
    this.res = facts.res
    this.#pathname = facts.pathname
    this.#search = facts.search
    this.clientAddress = facts.clientAddress
    this.requestId = facts.requestId
    this.startedAt = facts.startedAt
    this.#parentLog = facts.log
    this.#newNonce = facts.newNonce
    this.services = facts.services
    this.reporter = facts.reporter
  }

  /** The trace that this request continues or begins; `undefined` where nothing is reported. */
  get trace(): RequestTrace | undefined {
    return (this.#trace ??= this.reporter?.traceOf(this.requestId, this.req.headers, this.clientAddress.address))
  }

  /** Id of its trace for the log, where that is another than the request's own: the caller's, or a new one. */
  get otherTraceId(): string | undefined {
    if (this.#trace === undefined && this.req.headers['sentry-trace'] === undefined) return undefined
    const id = this.trace?.traceId
    return id === this.requestId || id === this.requestId.replaceAll('-', '') ? undefined : id
  }

  /** What has been measured so far, if the request is sampled. */
  get spans(): readonly RequestSpan[] {
    return this.#spans ?? []
  }

  /** Keeps a measurement, if the request is sampled. */
  addSpan(op: RequestSpan['op'], name: string, startedAt: number, endedAt?: number): void {
    if (this.trace?.sampled === true) this.keepSpan({ op, name, startedAt, endedAt })
  }

  /** Keeps a span, which may change until the answer is over; of a sampled request only. */
  keepSpan(span: RequestSpan): void {
    this.#spans ??= []
    if (this.#spans.length < MOST_SPANS) this.#spans.push(span)
  }

  /** Of the page or resource that is asked for, whether its document or its data. */
  get pathname(): string {
    return this.#pathname
  }

  /** `''` or with its question mark. */
  get search(): string {
    return this.#search
  }

  /** Set where the data of a page is asked for and not its document. */
  get data(): DataRequest | undefined {
    return this.#data
  }

  /**
   * Makes this the request for the data of a page: from here on it takes the way that the page's document would take.
   * To be called before anything else has looked at the URL, and again where an action leads to another page.
   */
  askForData(pathname: string, search: string, data: DataRequest): void {
    this.#request = undefined
    this.#pathname = pathname
    this.#search = search
    this.#data = data
  }

  /** Set if an action is called. */
  get action(): ActionTarget | undefined {
    return this.#action
  }

  /**
   * Makes this a call of an action on the page of the same path.
   * @param search of the page.
   */
  callAction(search: string, target: ActionTarget): void {
    this.#search = search
    this.#action = target
  }

  /** Whether the answer is for a guess at what somebody may want next. */
  get prefetch(): boolean {
    return purposeOf(this.req) === 'prefetch'
  }

  /** Counts one use of this client against a limit. */
  limit(key: string, limit: RateLimit): Promise<RateVerdict> {
    return this.services.limits.take(key, limit, Date.now(), clientKey(this.clientAddress.address))
  }

  /** What loaders, handlers and actions get as `context`: one object for all of them. */
  get loaderContext(): LoaderContext {
    return (this.#loaderContext ??= new RequestLoaderContext(this))
  }

  /** Runs work of the application after the answer. */
  afterAnswer(work: () => unknown): void {
    this.onFinish(() => this.services.afterwards.run(work, this))
  }

  /** Tags of what this request has used of the data cache. */
  get cacheTags(): readonly string[] {
    return this.#loaderContext === undefined ? [] : RequestLoaderContext.cacheTagsOf(this.#loaderContext)
  }

  get log(): Logger {
    return (this.#log ??= this.#parentLog.child({ requestId: this.requestId, ...this.#otherTrace() }))
  }

  /** 128 random bits for the Content-Security-Policy of this answer. */
  get nonce(): string {
    return (this.#nonce ??= this.#newNonce())
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#aborted !== undefined) this.#controller.abort(this.#aborted)
    }
    return this.#controller.signal
  }

  get request(): Request {
    refuseInReadScope('request')
    this.personal = true
    return (this.#request ??= toWebRequest(this))
  }

  #otherTrace(): { readonly traceId?: string } {
    const traceId = this.otherTraceId
    return traceId === undefined ? {} : { traceId }
  }

  /** Digests of the failures that this request has logged already. */
  get reported(): Set<string> {
    return (this.#reported ??= new Set())
  }

  /** Response headers, if a loader has touched them. */
  get givenHeaders(): Headers | undefined {
    return this.#loaderContext && RequestLoaderContext.givenHeadersOf(this.#loaderContext)
  }

  get aborted(): RequestAborted | undefined {
    return this.#aborted
  }

  /** Ends the request's work; later calls do nothing. */
  abort(cause: 'gone' | 'timeout'): void {
    if (this.#aborted !== undefined) return
    this.#aborted = new RequestAborted(cause)
    this.#controller?.abort(this.#aborted)
    for (const listener of this.#onAbort) listener(this.#aborted)
    this.#onAbort = []
  }

  /** Bounds the request's work in time; at most one timer, cleared when the answer is over. */
  startDeadline(milliseconds: number): void {
    if (this.#deadline !== undefined || this.res.closed) return
    this.#deadline = setTimeout(() => this.abort('timeout'), milliseconds)
  }

  /** The answer is over, on whichever way. */
  finish(): void {
    clearTimeout(this.#deadline)
    this.#onAbort = []
    for (const listener of this.#onFinish) listener()
    this.#onFinish = []
  }

  /** Calls back when the answer is over, at once if it already is. */
  onFinish(listener: () => void): void {
    if (this.res.closed) listener()
    else this.#onFinish.push(listener)
  }

  /** Calls back when the request is aborted, at once if it already is. Cheaper than a listener on `signal`. */
  onAbort(listener: (reason: RequestAborted) => void): void {
    if (this.#aborted === undefined) this.#onAbort.push(listener)
    else listener(this.#aborted)
  }
}

/** What all requests of a server share, and its applications reach by a request's context. */
export interface RequestServices {
  /** Absolute path of the folder of the embedded stores. */
  readonly dataDir: string
  /** The runtime's own. */
  readonly secrets: Secrets
  /** Those of `context.secrets`, which lead to no key of the runtime. */
  readonly applicationSecrets: Secrets
  /** The store that instances share; `undefined` without `REDIS_URL`. It may be away at any time. */
  readonly redis: RedisLink | undefined
  readonly limits: RateLimits
  /** What visitors share, and news of what has been dropped of it. */
  readonly data: DataCache
  /** As `data`, if somebody has asked for it. */
  readonly openedData: DataCache | undefined
  /** Calls of actions that have run. */
  readonly once: IdempotencyStore
  /** Reports that no service takes; `undefined` where a DSN is set. */
  readonly inbox: ReportInbox | undefined
  /** Work that goes on when its answer is over. */
  readonly afterwards: Afterwards
  /**
   * Calls back when the process begins to end, at once if it already does.
   * @returns removes the listener.
   */
  onDraining(listener: () => void): () => void
  /** Closes the stores. */
  dispose(): void
}

/** Work that outlives the answers it was begun for. */
export interface Afterwards {
  /** Begins it. What it throws is logged and reported as a failure of its request. */
  run(work: () => unknown, context: RequestContext): void
  /** Settles when nothing is left, also of what is begun meanwhile. Does not reject. */
  settled(): Promise<void>
}
