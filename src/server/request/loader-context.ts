import type { IncomingMessage, ServerResponse } from 'node:http'
import { parseCookie, parseSetCookie } from 'cookie'
import type { Response } from 'express'
import type { Logger } from 'pino'
import type { LoaderContext } from '../api/loader-types.ts'
import type { ReportInbox } from '../api/report-inbox.ts'
import type { ClientAddress } from '../http/trusted-proxy.ts'
import { NO_SESSION } from '../../shared/protocol/session-marks.ts'
import { keepsSecureCookies } from '../secrets/secure-cookies.ts'
import type { Secrets } from '../secrets/secrets.ts'
import type { Audience } from './audience.ts'
import type { DocumentMaking } from './document-making.ts'
import type { NotedSessions } from './noted-sessions.ts'
import type { CachedOptions, CachedRead, CacheKey } from '../stores/cache/cached-read.ts'
import type { DataCache } from '../stores/cache/data-cache.ts'
import { refuseInReadScope } from '../stores/cache/read-scope.ts'
import type { RateLimit, RateLimitResult } from '../stores/rate-cells.ts'
import { applicationKey } from '../stores/rate-limits.ts'
import type { SessionStore } from '../stores/session-store.ts'
import type { RunningWork } from './running-work.ts'
import { SharedReads } from './shared-reads.ts'
import { namesHeader, namesVisitor } from '../http/vary.ts'
import { AnswerHeaders, refuseLateVisitor, type CarryingAnswer } from './late-changes.ts'

const PURPOSES = ['Purpose', 'Sec-Purpose']

/** What a loader context uses of its request. */
interface LoaderRequest {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly requestId: string
  readonly log: Logger
  readonly pathname: string
  readonly record: { readonly route: string | undefined }
  readonly prefetch: boolean
  readonly clientAddress: ClientAddress
  readonly services: {
    readonly applicationSecrets: Secrets
    readonly dataDir: string
    readonly inbox: ReportInbox | undefined
    readonly data: Pick<DataCache, 'read' | 'revalidate'>
    readonly sessions: SessionStore
    now(): number
  }
  readonly audience: Pick<
    Audience,
    | 'hasLookedForSession'
    | 'hasOwnCookie'
    | 'isRuled'
    | 'sharedBy'
    | 'noteOpening'
    | 'noteSession'
    | 'ofAddress'
    | 'ofLocals'
  >
  /** Called with a name when the visitor's data is read. */
  readVisitor(what: string): void
  /** Set in the making of a document that is kept for all visitors. */
  readonly making: Pick<DocumentMaking, 'giveUp' | 'leave' | 'noteStale'> | undefined
  limit(key: string, limit: RateLimit): Promise<RateLimitResult>
  afterAnswer(work: () => unknown): void
  onAbort(listener: (reason: Error) => void): void
  readonly work: RunningWork
  noteLateChange: CarryingAnswer['noteLateChange']
}

/**
 * The `context` of loaders, handlers and actions. Made once per request, because sessions are kept by it, and only if
 * one of them runs. It does not expose the request.
 */
export class RequestLoaderContext implements LoaderContext {
  readonly #request: LoaderRequest
  #headers: Headers | undefined = undefined
  #cacheTags: Set<string> | undefined = undefined
  /** By key of `once`. */
  #reads: SharedReads | undefined = undefined

  constructor(request: LoaderRequest) {
    this.#request = request
  }

  /** Response headers, if something has touched them. */
  static givenHeadersOf(context: RequestLoaderContext): Headers | undefined {
    return context.#headers
  }

  /** Tags of what was used of the data cache. */
  static cacheTagsOf(context: RequestLoaderContext): readonly string[] {
    return context.#cacheTags === undefined ? [] : [...context.#cacheTags]
  }

  /** Makes `once` read again. */
  static forgetReads(context: RequestLoaderContext): void {
    context.#reads = undefined
  }

  get requestId(): string {
    this.#request.making?.giveUp('request id')
    return this.#request.requestId
  }

  get log(): Logger {
    return this.#request.log
  }

  get headers(): Headers {
    refuseInReadScope(this.#request, 'context.headers')
    return (this.#headers ??= new AnswerHeaders(this.#request))
  }

  /** For sessions, whose answers are private anyway. */
  get isPrefetch(): boolean {
    return this.#request.prefetch
  }

  get prefetch(): boolean {
    this.#lookAtVisitor('context.prefetch', 'prefetch')
    const { res, prefetch } = this.#request
    const isNamed = (vary: string): boolean => PURPOSES.every((name) => namesHeader(vary, name.toLowerCase()))
    if (prefetch) refuseLateVisitor(this.#request, 'context.prefetch', isNamed)
    if (!res.headersSent) this.headers.append('Vary', PURPOSES.join(', '))
    return prefetch
  }

  get locals(): LoaderContext['locals'] {
    this.#lookAtVisitor('context.locals', 'locals')
    if (!this.#request.audience.ofLocals) refuseLateVisitor(this.#request, 'context.locals', namesVisitor)
    this.#request.audience.ofLocals = true
    // Code that relies on its middleware would fail without what that leaves here.
    this.#request.making?.leave('locals')
    // Express makes them before any middleware runs.
    return (this.#request.res as Response).locals
  }

  get address(): string {
    this.#lookAtVisitor('context.address', 'address')
    const { audience } = this.#request
    if (audience.isRuled) refuseLateVisitor(this.#request, 'context.address', namesVisitor)
    audience.ofAddress = true
    return this.#request.clientAddress.address
  }

  get origin(): string | undefined {
    this.#lookAtVisitor('context.origin', 'origin')
    return this.#request.clientAddress.origin
  }

  get secrets(): Secrets {
    this.#request.making?.giveUp('secrets')
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

  /** For sessions: their cookie is read next. */
  lookAtSession(): Promise<never> | undefined {
    this.#lookAtVisitor('a session', 'session')
    if (!this.#request.audience.hasLookedForSession) refuseLateVisitor(this.#request, 'A session')
    return this.#request.making === undefined ? undefined : nothing()
  }

  /** For sessions kept on the server. */
  get sessionStore(): SessionStore {
    return this.#request.services.sessions
  }

  /** For sessions kept on the server. */
  get userAgent(): string {
    this.#lookAtVisitor('the User-Agent', 'user-agent')
    return this.#request.req.headers['user-agent'] ?? ''
  }

  /** For sessions kept on the server. */
  noteOpening(opening: Promise<unknown>): void {
    this.#request.audience.noteOpening(opening)
  }

  /** For sessions kept on the server. */
  noteSession(...noted: Parameters<NotedSessions['note']>): void {
    if (noted[1] !== NO_SESSION) refuseLateVisitor(this.#request, 'A session')
    this.#request.audience.noteSession(...noted)
  }

  now(): number {
    return this.#request.services.now()
  }

  after(work: () => unknown): void {
    refuseInReadScope(this.#request, 'context.after()')
    const { making } = this.#request
    if (making === undefined) this.#request.afterAnswer(work)
    else making.giveUp('after')
  }

  cookie(name: string): string | undefined {
    this.#lookAtVisitor('context.cookie()', `cookie ${name}`)
    const set = this.#headers?.getSetCookie().findLast((text) => text.startsWith(`${name}=`))
    if (set !== undefined) {
      const { value, maxAge } = parseSetCookie(set)
      return maxAge === 0 ? undefined : value
    }
    const { audience, req } = this.#request
    const value = parseCookie(req.headers.cookie ?? '')[name]
    if (value !== undefined) refuseLateVisitor(this.#request, 'context.cookie()', (vary) => namesHeader(vary, 'cookie'))
    audience.hasOwnCookie = audience.hasOwnCookie === true || value !== undefined
    return value
  }

  limit(key: string, limit: RateLimit): Promise<RateLimitResult> {
    const { making } = this.#request
    if (making === undefined) return this.#request.limit(applicationKey(key), limit)
    making.giveUp('limit')
    return nothing()
  }

  once<Value>(key: string | object, read: () => Value | Promise<Value>): Promise<Value> {
    refuseInReadScope(this.#request, 'context.once()')
    return (this.#reads ??= new SharedReads()).once(key, read)
  }

  cached<Value>(key: CacheKey, options: CachedOptions, read: CachedRead<Value>): Promise<Value> {
    const request = this.#request
    const value = request.services.data.read(
      { key, options, read },
      {
        pathname: request.pathname,
        of: request,
        address: request.clientAddress.address,
        used: (tags, isStale) => {
          if (isStale) request.making?.noteStale()
          for (const tag of tags) (this.#cacheTags ??= new Set()).add(tag)
        },
        failed: (thrown) => {
          const err = thrown instanceof Error ? { type: thrown.name, message: thrown.message } : { type: typeof thrown }
          request.log.warn(
            { err, route: request.record.route },
            'a stale value is returned: a new one could not be made',
          )
        },
      },
    )
    const bounded = new Promise<Value>((resolve, reject) => {
      request.onAbort(reject)
      value.then(resolve, reject)
    })
    request.work.until(value)
    // A failure that nobody awaits must not end the process.
    bounded.catch(() => undefined)
    return bounded
  }

  revalidate(...targets: readonly string[]): Promise<void> {
    return this.#request.services.data.revalidate(targets)
  }

  #lookAtVisitor(what: string, reason: string): void {
    refuseInReadScope(this.#request, what)
    this.#request.readVisitor(reason)
  }
}

/** For what is awaited in the making of a kept document that has ended. A new one each time, or it would keep what waits. */
function nothing(): Promise<never> {
  return new Promise(() => undefined)
}
