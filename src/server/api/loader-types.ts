import type { Logger } from 'pino'
import type { Params } from '../../shared/route-pattern.ts'
import type { ReportInbox } from './report-inbox.ts'
import type { Secrets } from '../secrets/secrets.ts'
import type { RateLimit, RateVerdict } from '../stores/rate-limits.ts'
import type { CacheKey, CachedOptions, CachedRead } from '../stores/cache/cached-read.ts'

/** What a loader, resource handler or action may know of its request, beyond the web `Request`. */
export interface LoaderContext {
  /** Names this request in the log; taken from a trusted `X-Request-Id` or made here. */
  readonly requestId: string
  /** A child logger that carries the request's id. */
  readonly log: Logger
  /**
   * Headers for the answer; made on first use. `Cache-Control` replaces the default of documents, `Set-Cookie`
   * is appended and makes the answer private.
   */
  readonly headers: Headers
  /** Whether the answer is for a guess at what somebody may want next: nobody sees it before a click. */
  readonly prefetch: boolean
  /**
   * What middleware of the application has left in `response.locals`, for documents, data, actions and resource routes
   * alike. Its members are typed by declaring them in `Express.Locals`. Like a cookie it belongs to one visitor.
   */
  readonly locals: Readonly<Record<string, unknown> & Express.Locals>
  /** Address of the client, as far as `TRUST_PROXY` lets it be believed. */
  readonly address: string
  /** Signs and encrypts with the keys of this server. */
  readonly secrets: Secrets
  /** Absolute path of the folder for embedded stores. */
  readonly dataDir: string
  /** Error reports that are kept here; `undefined` where a DSN is set and they go to the service. */
  readonly reports: ReportInbox | undefined
  /**
   * Runs work when the answer is over, also where the visitor has left: nobody waits for it. What it throws is logged and
   * reported. A server that is stopped waits for it, within `SHUTDOWN_GRACE_MS`; one that is killed does not.
   */
  after(work: () => unknown): void
  /** Value of a cookie, as an action of the same request has set it or else as it was sent; decoded. */
  cookie(name: string): string | undefined
  /**
   * Counts one use of something against a limit, on all instances that share a store together.
   * @param key says of what and by whom: `sign ${address}`.
   * @returns whether it is within `points` uses in `seconds`, and if not, when to try again.
   */
  limit(key: string, limit: RateLimit): Promise<RateVerdict>
  /**
   * Gives out what the server keeps under a key, or makes it. It is kept for all visitors: what `read` depends on must
   * stand in the key, and inside of `read` cookies, headers and the request cannot be had. Of all who ask meanwhile one
   * runs `read`. Everybody gets a copy of their own.
   * @throws {RangeError} for options that make no sense; {VisitorInCacheError} and {UncacheableValueError} for a `read`
   *   that must not be cached; what `read` throws, which is never kept; the reason of an abort of this request.
   */
  cached<Value>(key: CacheKey, options: CachedOptions, read: CachedRead<Value>): Promise<Value>
  /**
   * Drops what `cached` keeps, in all processes and instances: tags, or paths (`/mills`, `/mills/*`) for whatever pages
   * there have used. Browsers are told by `revalidate` of an action.
   */
  revalidate(...targets: readonly string[]): Promise<void>
}

type SearchInput = Readonly<Record<string, string | string[]>>

/** What a loader may say about how long, and until when, the browser keeps its data. */
export interface CacheOptions {
  /**
   * Seconds for which the browser's route cache takes the data for fresh: 60 unless told. `'no-store'` is 0: every
   * navigation asks again.
   */
  readonly lifetime?: number | 'no-store'
  /** Names by which `revalidate` drops the data. */
  readonly tags?: readonly string[]
}

/**
 * What a loader is given.
 * @typeParam Pattern the pattern of its entry in the table, without groups.
 * @typeParam Search the output of the segment's `search` schema; raw text without one.
 */
export interface LoaderArgs<Pattern extends string = string, Search = SearchInput> {
  /** Decoded once, without a prototype. A layout's loader gets those of its own pattern. */
  readonly params: Params<Pattern>
  /** Parsed by the schema that the same module exports as `search`. */
  readonly search: Search
  /** The request as the web platform has it; made on first use. */
  readonly request: Request
  /** Aborted when the client goes away or the render's time is over. Hand it to every fetch. */
  readonly signal: AbortSignal
  readonly context: LoaderContext
  /**
   * Tells the browser's route cache about this loader's data. Later calls add their tags; of several lifetimes the last
   * counts. To be called before the loader has settled. A handler's answer is not in that cache: there it does nothing.
   * @throws {RangeError} for a negative or non-finite lifetime.
   */
  readonly cache: (options: CacheOptions) => void
}

/** A schema for search params: zod's, or anything with the same `safeParse`. */
export interface SearchSchema {
  readonly _output: unknown
  safeParse(
    input: unknown,
  ): { success: true; data: unknown } | { success: false; error: { issues: readonly SearchIssue[] } }
}

/** What a schema finds wrong. */
export interface SearchIssue {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** A module named by `loader` or `layoutLoader`. */
export interface ServerModule {
  readonly loader?: (args: never) => unknown
  readonly search?: SearchSchema
  /**
   * Of a layout's module: `false` says that its loader refuses and redirects nobody, so that the data of pages inside
   * need not wait for it. Of a page's module: `true` says that its loader must succeed before an action that is posted
   * to the page may run.
   */
  readonly guards?: boolean
}

/** Answers one method of a resource route. */
export type ResourceHandler = (args: never) => Response | Promise<Response>

/**
 * A module named by `handler`: its upper-case exports are the methods it answers; `HEAD` follows from `GET`. Its `search` is
 * a `SearchSchema` as a loader's is: a query that does not fit is answered by 400.
 */
export type HandlerModule = Readonly<Record<string, unknown>>
