import type { IncomingMessage } from 'node:http'
import type { Logger } from 'pino'
import type { LoaderContext } from '../api/loader-types.ts'
import type { ReportInbox } from '../api/report-inbox.ts'
import type { ClientAddress } from '../http/trusted-proxy.ts'
import { keepsSecureCookies } from '../secrets/secure-cookies.ts'
import type { OpensSessions } from '../secrets/sealed-cookie.ts'
import type { Secrets } from '../secrets/secrets.ts'
import type { CachedOptions, CachedRead, CacheKey } from '../stores/cache/cached-read.ts'
import { refuseInReadScope } from '../stores/cache/read-scope.ts'
import type { RateLimit, RateLimitResult } from '../stores/rate-cells.ts'
import { applicationKey } from '../stores/rate-limits.ts'
import type { SessionStore } from '../stores/session-store.ts'
import type { Audience } from './audience.ts'
import type { DocumentMaking } from './document-making.ts'
import type { NotedSessions } from './noted-sessions.ts'

/** A function `visitor` has tried to decide about the answer. */
export class VisitorAnswerError extends Error {
  override readonly name = 'VisitorAnswerError'

  /**
   * @param by the segment's id and the name of the function.
   * @param what it has done.
   */
  constructor(by: string, what: string, options?: ErrorOptions) {
    super(
      `${by} ${what}, but the answer is for everybody and has begun: visitor decides no status and sets no header or cookie. ` +
        'Do it in a loader, a guard or an action',
      options,
    )
  }
}

/** What a visitor's context uses of its request. */
interface VisitorRequest {
  readonly req: IncomingMessage
  readonly requestId: string
  readonly log: Logger
  readonly prefetch: boolean
  readonly clientAddress: ClientAddress
  readonly services: {
    readonly applicationSecrets: Secrets
    readonly dataDir: string
    readonly inbox: ReportInbox | undefined
    readonly sessions: SessionStore
    now(): number
  }
  readonly audience: Pick<Audience, 'noteSession' | 'openedAhead' | 'learned'>
  /** Set in the making of a document: the visitor is one of whom nothing is known. */
  readonly making: Pick<DocumentMaking, 'reads' | 'learned' | 'visitorReads'> | undefined
  /** That of the loaders. */
  readonly loaderContext: LoaderContext
  limit(key: string, limit: RateLimit): Promise<RateLimitResult>
  afterAnswer(work: () => unknown): void
}

/** The `context` of a function `visitor`: it reads what a loader's does, and changes nothing of the answer. */
export class VisitorContext implements LoaderContext {
  readonly #request: VisitorRequest
  readonly #by: string

  /** @param by the segment's id and the name of the function. */
  constructor(request: VisitorRequest, by: string) {
    this.#request = request
    this.#by = by
  }

  get #isNobody(): boolean {
    return this.#request.making !== undefined
  }

  get headers(): Headers {
    throw new VisitorAnswerError(this.#by, 'has used context.headers')
  }

  get requestId(): string {
    this.#note('request id')
    return this.#request.requestId
  }

  get log(): Logger {
    return this.#request.log
  }

  get prefetch(): boolean {
    this.#note('prefetch')
    return this.#request.prefetch
  }

  get locals(): LoaderContext['locals'] {
    this.#note('locals')
    return this.#isNobody ? ({} as LoaderContext['locals']) : this.#request.loaderContext.locals
  }

  get address(): string {
    this.#note('address')
    return this.#isNobody ? '' : this.#request.loaderContext.address
  }

  get origin(): string | undefined {
    refuseInReadScope(this.#request, 'context.origin')
    return this.#request.clientAddress.origin
  }

  get secrets(): Secrets {
    return this.#request.services.applicationSecrets
  }

  get dataDir(): string {
    return this.#request.services.dataDir
  }

  get reports(): ReportInbox | undefined {
    return this.#request.services.inbox
  }

  /** For sessions. */
  get secureCookies(): boolean {
    const { clientAddress, req } = this.#request
    return keepsSecureCookies(clientAddress, req.headers['user-agent'])
  }

  /** For sessions. */
  readonly hasBegun = true

  /** For sessions. */
  get isPrefetch(): boolean {
    return this.#request.prefetch
  }

  /** For sessions: their cookie is read next. */
  lookAtSession(kind: OpensSessions): Promise<never> | undefined {
    refuseInReadScope(this.#request, 'a session')
    const { audience, making } = this.#request
    ;(making ?? audience).learned?.noteKind(kind)
    return audience.openedAhead?.get(kind) as Promise<never> | undefined
  }

  /** For sessions kept on the server. */
  get sessionStore(): SessionStore {
    return this.#request.services.sessions
  }

  /** For sessions kept on the server. */
  get userAgent(): string {
    return this.#request.req.headers['user-agent'] ?? ''
  }

  /** For sessions kept on the server. */
  noteSession(...noted: Parameters<NotedSessions['note']>): void {
    this.#request.audience.noteSession(...noted)
  }

  now(): number {
    return this.#request.services.now()
  }

  after(work: () => unknown): void {
    this.#note('after')
    if (!this.#isNobody) this.#request.afterAnswer(work)
  }

  cookie(name: string): string | undefined {
    this.#note(`cookie ${name}`)
    return this.#isNobody ? undefined : this.#request.loaderContext.cookie(name)
  }

  limit(key: string, limit: RateLimit): Promise<RateLimitResult> {
    this.#note('limit')
    return this.#isNobody ? new Promise<never>(() => undefined) : this.#request.limit(applicationKey(key), limit)
  }

  once<Value>(key: string | object, read: () => Value | Promise<Value>): Promise<Value> {
    refuseInReadScope(this.#request, 'context.once()')
    const { making, loaderContext } = this.#request
    return (making?.visitorReads ?? loaderContext).once(key, read)
  }

  cached<Value>(key: CacheKey, options: CachedOptions, read: CachedRead<Value>): Promise<Value> {
    return this.#request.loaderContext.cached(key, options, read)
  }

  revalidate(...targets: readonly string[]): Promise<void> {
    return this.#request.loaderContext.revalidate(...targets)
  }

  #note(what: string): void {
    refuseInReadScope(this.#request, what)
    this.#request.making?.reads.note(what)
  }
}
