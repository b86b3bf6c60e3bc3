import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import { refuseInReadScope } from '../stores/cache/read-scope.ts'
import type { RouteTable } from '../../shared/route-table.ts'
import type { TextsOf } from '../../shared/texts.ts'
import type { DataLifetime } from '../api/define-app.ts'
import type { LoaderContext } from '../api/loader-types.ts'
import { purposeOf, type ActionTarget, type DataRequest } from './request-kind.ts'
import { RequestRecord } from './request-record.ts'
import type { ReportInbox } from '../api/report-inbox.ts'
import type { ServerReporter } from './request-reporter.ts'
import { traceField, type RequestTrace } from './request-trace.ts'
import type { Secrets } from '../secrets/secrets.ts'
import type { ClientAddress } from '../http/trusted-proxy.ts'
import type { RandomText } from '../http/random-text.ts'
import { clientKey } from '../http/client-key.ts'
import type { StreamEncoders } from '../http/stream-encoders.ts'
import { Audience } from './audience.ts'
import type { AnswerPlace } from './answer-place.ts'
import { RunningWork, type LeftWork } from './running-work.ts'
import { RequestAborted } from './request-aborted.ts'
import { RequestLoaderContext } from './loader-context.ts'
import type { LateChangeError, LateVisitorError } from './late-changes.ts'
import type { NamedAction } from './named-action.ts'
import type { DocumentMaking } from './document-making.ts'
import { toWebRequest, type HandlerBody } from './web-request.ts'
import type { DataCache } from '../stores/cache/data-cache.ts'
import type { DropTimes } from '../stores/cache/drop-times.ts'
import type { IdempotencyStore } from '../stores/idempotency-store.ts'
import type { RateLimit, RateLimitResult } from '../stores/rate-cells.ts'
import type { RateLimits } from '../stores/rate-limits.ts'
import type { RedisLink } from '../stores/redis-link.ts'
import type { SessionStore } from '../stores/session-store.ts'

/** Facts from which a request's context is made. */
interface RequestFacts {
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
  /** Absent for the request of a visitor. */
  readonly making?: DocumentMaking | undefined
  /** As `RequestContext` has it. */
  readonly hasDotSegments?: boolean
  /** As `RequestContext` has it. */
  readonly isTidied?: boolean
  /** As `RequestContext` has it. */
  readonly middlewareOnly?: RequestContext['middlewareOnly']
}

/**
 * Everything about one request: created once and passed as an argument. Only its own members change it; `record`,
 * `audience`, `place`, `work` and `body` take what others note. The expensive members (web request, signal, logger, response
 * headers) are created on first use.
 */
export class RequestContext {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  #pathname: string
  #search: string
  #data: DataRequest | undefined = undefined
  #action: ActionTarget | undefined = undefined
  readonly clientAddress: ClientAddress
  /** What log, metrics and traces record about it. */
  readonly record: RequestRecord
  /** The request is for data of an untidy path, and this is its tidy form: the answer is a redirect there. */
  readonly isTidied: boolean
  /** Set if only middleware may answer. `tidyUrl`: redirects there without the trailing slash; `undefined` to pass on to the host. */
  readonly middlewareOnly: { readonly tidyUrl: string | undefined } | undefined
  /** For whom the answer is. */
  readonly audience = new Audience()
  /** Set if it belongs to no visitor, and makes a document to be kept. */
  readonly making: DocumentMaking | undefined
  /** Its place among the answers in progress. */
  readonly place: AnswerPlace = { turn: 0, noteUnread: undefined }
  /** Code of the application that runs for it. */
  readonly work = new RunningWork()
  #hasDotSegments: boolean
  #reported: Set<string> | undefined = undefined
  readonly #parentLog: Logger
  readonly #newNonce: RandomText
  readonly services: RequestServices
  readonly reporter: ServerReporter | undefined
  #trace: RequestTrace | undefined = undefined
  #log: Logger | undefined = undefined
  #controller: AbortController | undefined = undefined
  #aborted: RequestAborted | undefined = undefined
  #onFinish: (() => void)[] = []
  #onAbort: ((reason: RequestAborted) => void)[] = []
  #deadline: NodeJS.Timeout | undefined = undefined
  #readAt: number | undefined = undefined
  #body: HandlerBody | undefined = undefined
  #request: Request | undefined = undefined
  #nonce: string | undefined = undefined
  #loaderContext: RequestLoaderContext | undefined = undefined

  constructor(facts: RequestFacts) {
    this.req = facts.req
    this.res = facts.res
    this.#pathname = facts.pathname
    this.#search = facts.search
    this.clientAddress = facts.clientAddress
    this.#hasDotSegments = facts.hasDotSegments === true
    this.isTidied = facts.isTidied === true
    this.middlewareOnly = facts.middlewareOnly
    const { method = '' } = facts.req
    this.record = new RequestRecord({ ...facts, method, protocol: facts.clientAddress.protocol })
    this.#parentLog = facts.log
    this.#newNonce = facts.newNonce
    this.services = facts.services
    this.reporter = facts.reporter
    this.making = facts.making
  }

  get requestId(): string {
    return this.record.requestId
  }

  /** The trace that this request continues or begins; `undefined` without reporting. */
  get trace(): RequestTrace | undefined {
    return (this.#trace ??= this.reporter?.traceOf(this.requestId, this.req.headers, this.clientAddress.address))
  }

  /** Id of its trace for the log, if it differs from the request's own: the caller's, or a new one. */
  get otherTraceId(): string | undefined {
    const { telemetry } = this.record
    if (telemetry?.traceId !== undefined) return telemetry.traceId
    if (this.#trace === undefined && this.req.headers['sentry-trace'] === undefined) return undefined
    const id = this.trace?.traceId
    return id === this.requestId || id === this.requestId.replaceAll('-', '') ? undefined : id
  }

  /** Path of the requested page or resource, for its document or its data. */
  get pathname(): string {
    return this.#pathname
  }

  /** `''` or with its question mark. */
  get search(): string {
    return this.#search
  }

  /** The path contains dot segments, or is the runtime's own: no page, rule or file may match it. */
  get hasDotSegments(): boolean {
    return this.#hasDotSegments
  }

  /** Set if the page's data is requested instead of its document. */
  get data(): DataRequest | undefined {
    return this.#data
  }

  /**
   * Makes this the request for the data of a page; from now on it is handled as the page's document would be. Call it
   * before anything else has read the URL.
   */
  askForData(pathname: string, search: string, data: DataRequest): void {
    this.#request = undefined
    this.#pathname = pathname
    this.#search = search
    this.#data = data
    if (data.isRuntimePath === true) this.#hasDotSegments = true
  }

  /** Makes the page to which an action leads the requested one, by its normalised path. */
  leadTo(pathname: string, search: string): void {
    this.askForData(pathname, search, { build: this.#data?.build ?? '' })
    this.#hasDotSegments = false
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
    this.#request = undefined
    this.#search = search
    this.#action = target
  }

  /** Whether the answer is prefetched. */
  get prefetch(): boolean {
    return purposeOf(this.req) === 'prefetch'
  }

  /** Counts one use of this client against a limit. */
  limit(key: string, limit: RateLimit): Promise<RateLimitResult> {
    return this.services.limits.take(key, limit, this.services.now(), clientKey(this.clientAddress.address))
  }

  /** What loaders, handlers and actions get as `context`: one object for all of them. */
  get loaderContext(): LoaderContext {
    return (this.#loaderContext ??= new RequestLoaderContext(this))
  }

  /** Runs work of the application after the answer. */
  afterAnswer(work: () => unknown): void {
    const { telemetry } = this.record
    // It may wait for the work of other requests, and would then run in their scopes.
    const inScope = AsyncLocalStorage.snapshot()
    const begin = (): unknown => inScope(() => (telemetry === undefined ? work() : telemetry.run(work)))
    this.onFinish(() => this.services.afterwards.run(begin, this))
  }

  /** Logs and reports a change that the sent answer does not contain. */
  noteLateChange(error: LateChangeError | LateVisitorError, header?: string): void {
    const { record, services } = this
    // Other headers are for documents: the router of the browser reads none.
    if (this.data !== undefined && header !== undefined && header !== 'set-cookie') {
      this.log.warn({ route: record.route }, error.message)
      return
    }
    services.afterwards.run(() => {
      throw error
    }, this)
  }

  /** Makes `context.once` read again: what it has read may have changed. */
  forgetReads(): void {
    if (this.#loaderContext !== undefined) RequestLoaderContext.forgetReads(this.#loaderContext)
  }

  /** Notes that loaders start to read. */
  startReading(): void {
    this.#readAt = this.services.drops?.last
  }

  /** The last drop that its data contains, as in `DropTimes`; `undefined` in applications without handlers. */
  get readAt(): number | undefined {
    return this.#readAt ?? this.services.drops?.last
  }

  /** Tags of the cached data that this request has used. */
  get cacheTags(): readonly string[] {
    return this.#loaderContext === undefined ? [] : RequestLoaderContext.cacheTagsOf(this.#loaderContext)
  }

  /** How a handler's body is read. */
  get body(): HandlerBody {
    return (this.#body ??= { limit: 1_048_576, reader: undefined })
  }

  get log(): Logger {
    return (this.#log ??= this.#parentLog.child({ requestId: this.requestId, ...traceField(this) }))
  }

  /** 128 random bits for the Content-Security-Policy of this answer. */
  get nonce(): string {
    return (this.#nonce ??= this.#newNonce())
  }

  get signal(): AbortSignal {
    if (this.#controller !== undefined) return this.#controller.signal
    this.#controller = new AbortController()
    if (this.#aborted !== undefined) this.#controller.abort(this.#aborted)
    return this.#controller.signal
  }

  get request(): Request {
    refuseInReadScope(this, 'request')
    this.readVisitor('request')
    return (this.#request ??= toWebRequest(this))
  }

  /** Notes that visitor data is given out, by its name. It ends the making of a kept document. */
  readVisitor(what: string): void {
    if ((this.audience.personal ?? 'origin') === 'origin') this.audience.personal = what
    this.making?.giveUp(what)
  }

  /** Digests of the failures that this request has already logged. */
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

  /** Marks the answer as over, however it ended. */
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

/** Services that all requests of a server share, and that applications reach by a request's context. */
export interface RequestServices {
  /** Absolute path of the folder of the embedded stores. */
  readonly dataDir: string
  /** For the runtime's own purposes. */
  readonly secrets: Secrets
  /** For `context.secrets`: they derive no key of the runtime. */
  readonly applicationSecrets: Secrets
  /** The store that instances share; `undefined` without `REDIS_URL`. It may be unreachable at any time. */
  readonly redis: RedisLink | undefined
  readonly limits: RateLimits
  /** What is held for work of requests whose answer is over. */
  readonly leftWork: LeftWork
  readonly encoders: StreamEncoders
  /** Sessions kept on the server. */
  readonly sessions: SessionStore
  /** Defaults for how long browsers keep loaders' data. */
  readonly dataLifetime: DataLifetime
  /** The shared data cache, and its revalidations. */
  readonly data: DataCache
  /** When this process dropped what, or learned of a drop; `undefined` in applications without handlers. */
  readonly drops?: DropTimes | undefined
  /** As `data`, if it is open. */
  readonly openedData: DataCache | undefined
  /** The clock of sessions, caches and limits: milliseconds since the epoch. */
  now(): number
  /** In a test app: gives an action that a page renders its id, unless it has one. Absent in a built application. */
  readonly adoptAction?: ((action: NamedAction) => void) | undefined
  /** Logs a warning, unless this process has logged one with the same key. */
  warnOnce(key: string, fields: object, message: string): void
  /** The application's own texts, and the table that knows their page; absent if all are English. */
  readonly texts?: { readonly of: TextsOf; readonly match: RouteTable['match'] } | undefined
  /** Of all answers: whether they become files, and the hash of the public configuration in documents. */
  readonly site?: { readonly forFiles: boolean; readonly publicEnvHash: string | undefined } | undefined
  /** Finished action calls. */
  readonly calls: IdempotencyStore
  /** Reports that stay on this server; `undefined` if a DSN is set. */
  readonly inbox: ReportInbox | undefined
  /** Work that continues after its answer. */
  readonly afterwards: Afterwards
  /**
   * Calls back when the process starts to end, at once if it already has.
   * @returns removes the listener.
   */
  onDraining(listener: () => void): () => void
  /** Closes the stores. */
  dispose(): void
}

/** Work that outlives the answer during which it was started. */
export interface Afterwards {
  /** Starts it. Its errors are logged and reported as failures of its request. */
  run(work: () => unknown, context: RequestContext): void
  /** Settles when nothing is left, including work started meanwhile. Does not reject. */
  settled(): Promise<void>
}
