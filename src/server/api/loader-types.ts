import type { Logger } from 'pino'
import type { EntryPattern, EntryVariants } from '../../shared/registered-table.ts'
import type { Params } from '../../shared/route-pattern.ts'
import type { Schema } from '../../shared/schema.ts'
import type { ReportInbox } from './report-inbox.ts'
import type { Secrets } from '../secrets/secrets.ts'
import type { RateLimit, RateLimitResult } from '../stores/rate-cells.ts'
import type { CacheKey, CachedOptions, CachedRead } from '../stores/cache/cached-read.ts'

declare global {
  // Merges with `@types/express`, which an application may not have.
  namespace Express {
    interface Locals {}
  }
}

/** Facts about the request for loaders, resource handlers and actions, beyond the web `Request`. */
export interface LoaderContext {
  /** Identifies this request in the log; from a trusted `X-Request-Id`, or new. */
  readonly requestId: string
  /** A child logger that carries the request's id. */
  readonly log: Logger
  /**
   * Headers for the answer; created on first use. `Cache-Control` replaces the default of documents, `Set-Cookie` is
   * appended and makes the answer private.
   */
  readonly headers: Headers
  /** Whether the answer is prefetched: it may never be shown. */
  readonly prefetch: boolean
  /**
   * Values that middleware of the application has set in `response.locals`, for documents, data, actions and resource
   * routes alike. Declare their types in `Express.Locals`. Like cookies, they belong to one visitor.
   */
  readonly locals: Readonly<Record<string, unknown> & Express.Locals>
  /** Address of the client, as far as `TRUST_PROXY` makes it trustworthy. */
  readonly address: string
  /**
   * The public origin of this site, for absolute URLs in feeds, mails and the like: the one of `ORIGIN` that the visitor
   * has asked for. `undefined` without `ORIGIN`: then the origin of `request.url` is the `Host` that the visitor has sent,
   * and an answer that contains it is for this visitor alone.
   */
  readonly origin: string | undefined
  /** Signs and encrypts with the keys of this server. */
  readonly secrets: Secrets
  /** Absolute path of the folder for embedded stores. */
  readonly dataDir: string
  /** The error reports stored here; `undefined` if a DSN is set, because reports then go to the service. */
  readonly reports: ReportInbox | undefined
  /**
   * The clock of this server's sessions, caches and limits, in milliseconds since the epoch. Use it for times of your own,
   * such as the end of a token: in tests, `fakeClock` moves it.
   */
  now(): number
  /**
   * Runs work after the answer, even if the visitor has disconnected; nothing waits for it. Errors are logged and
   * reported. A server that is stopped waits for it, within `SHUTDOWN_GRACE_MS`; one that is killed does not. A process runs
   * 500 at once; others wait for their turn, 2,000 at most. Beyond that, the work is not begun, which is logged and reported.
   */
  after(work: () => unknown): void
  /** Decoded value of a cookie, as set by an action of the same request, otherwise as sent. */
  cookie(name: string): string | undefined
  /**
   * Counts one use against a limit, across all instances that share a store.
   * @param key what is limited, and for whom: `sign ${address}`.
   * @returns whether it is within `points` uses in `seconds`, and if not, when to try again.
   */
  limit(key: string, limit: RateLimit): Promise<RateLimitResult>
  /**
   * Runs `read` once in this request for a key, and returns its value to all loaders, handlers and actions that ask for
   * it. All get the same object: do not change it. A failure reaches those that wait for it, and the next call reads
   * again. What was read before an action's handler finished is read again after it, because the handler may have
   * changed it.
   * @param key a string, or an object that callers share; objects are equal only to themselves.
   * @throws {VisitorInCacheError} inside a `read` of `cached`, which is for all visitors.
   */
  once<Value>(key: string | object, read: () => Value | Promise<Value>): Promise<Value>
  /**
   * Returns the cached value of a key, or makes it. It is kept for all visitors, so the key must contain everything
   * that `read` depends on, and `read` cannot access cookies, headers or the request. Concurrent callers share one
   * `read`. Each caller gets a copy.
   * @throws {RangeError} for invalid options; {VisitorInCacheError} and {UncacheableValueError} for a `read` that must
   * not be cached; errors of `read`, which are never cached; the reason if this request is aborted.
   */
  cached<Value>(key: CacheKey, options: CachedOptions, read: CachedRead<Value>): Promise<Value>
  /**
   * Drops cached values in all processes and instances: by tags, or by paths (`/mills`, `/mills/*`) for everything that
   * their pages have used. Browsers that listen to an event stream with these targets drop them too; the browser that
   * calls an action drops what the action's own `revalidate` names.
   */
  revalidate(...targets: readonly string[]): Promise<void>
}

type SearchInput = Readonly<Record<string, string | string[]>>

/** How long the server keeps the document of a page with `cache: 'shared'`. */
export interface SharedLifetime {
  /** Seconds for which the document is fresh. Above 0. */
  readonly seconds: number
  /** Seconds for which it is still sent after that, while a new one is made. Default: 0. */
  readonly staleSeconds?: number | undefined
}

/** How long the browser keeps a loader's data and the server the page's document, and what drops both earlier. */
export interface CacheOptions {
  /**
   * Seconds for which the browser's data cache treats the data as fresh. Default: 60. `'no-store'` is 0: every
   * navigation loads it again.
   */
  readonly lifetime?: number | 'no-store' | undefined
  /**
   * How long the server keeps the page's document, if the entry of the page says `cache: 'shared'`. Of several loaders, the
   * shortest times count. Default: fresh for 60 seconds.
   */
  readonly shared?: SharedLifetime | undefined
  /** Names by which `revalidate` drops the data, and the document. Default: none. */
  readonly tags?: readonly string[] | undefined
}

/**
 * Arguments of a loader.
 * @typeParam Pattern the pattern of its entry in the table, without groups.
 * @typeParam Search the output of the module's `search` schema; raw text without one.
 * @typeParam OwnParams the output of the module's `params` schema; the pattern's own without one.
 */
export interface LoaderArgs<Pattern extends EntryPattern = never, Search = SearchInput, OwnParams = Params<Pattern>> {
  /**
   * Decoded once, without a prototype. A layout's loader gets those of its own pattern. If the same module exports a
   * schema as `params`, this is its output; pages and hooks keep the text.
   */
  readonly params: OwnParams
  /** Parsed by the schema that the same module exports as `search`. */
  readonly search: Search
  /** The web platform's `Request`; created on first use. */
  readonly request: Request
  /** Aborted when the client disconnects or the render times out. Pass it to every fetch. */
  readonly signal: AbortSignal
  readonly context: LoaderContext
  /**
   * Results of the page's `variants` functions for this request; those of failed functions are missing. Empty for
   * a page without `variants`. Reading it does not keep the page from being the same for all.
   */
  readonly variants: EntryVariants<Pattern>
  /**
   * Sets how the browser's route cache keeps this loader's data, and the server the page's document. Later calls add their
   * tags; the last lifetime and the last `shared` win.
   * Call it before the loader has settled. Handlers' answers are not in that cache, so it does nothing there.
   * @throws {RangeError} for times that are not valid.
   */
  readonly cache: (options: CacheOptions) => void
}

/** A loader, as far as `VisitorArgs` depends on it. */
type AnyLoader = (args: never) => unknown

/**
 * Arguments of `visitor` and `layoutVisitor`, which run for each visitor who needs it beside a loader that runs for all.
 * @typeParam Pattern the pattern of its entry in the table, without groups.
 * @typeParam Loader `typeof loader` of the same module; without one, `data` is `undefined`.
 */
export interface VisitorArgs<
  Pattern extends EntryPattern = never,
  Loader extends AnyLoader | undefined = undefined,
> extends Pick<LoaderArgs<Pattern>, 'request' | 'signal' | 'variants'> {
  /** As the loader gets them. */
  readonly params: Loader extends (args: { readonly params: infer OwnParams }) => unknown ? OwnParams : Params<Pattern>
  /** As the loader gets them. */
  readonly search: Loader extends (args: { readonly search: infer Search }) => unknown ? Search : SearchInput
  /** The loader's result. For a cached page it is shared by all visitors, and frozen. */
  readonly data: Loader extends (args: never) => infer Result ? Awaited<Result> : undefined
  /** As for a loader, but it cannot change the answer: using `headers` throws. */
  readonly context: LoaderContext
}

/**
 * Arguments of a handler: those of a loader, and the parsed body.
 * @typeParam Pattern the pattern of its entry in the table, without groups.
 * @typeParam Body the output of the module's `body` schema for the method; `undefined` without one.
 * @typeParam Search the output of the module's `search` schema; raw text without one.
 * @typeParam OwnParams the output of the module's `params` schema; the pattern's own without one.
 */
export interface HandlerArgs<
  Pattern extends EntryPattern = never,
  Body = undefined,
  Search = SearchInput,
  OwnParams = Params<Pattern>,
> extends LoaderArgs<Pattern, Search, OwnParams> {
  /** Parsed by the schema that the same module exports as `body`. `request` then has no body any more. */
  readonly body: Body
}

/**
 * Arguments of a guard: those of a layout's loader of the same entry. The body of the request is unread.
 * @typeParam Pattern the pattern of its entry in the table, without groups.
 */
export interface GuardArgs<Pattern extends EntryPattern = never> extends Pick<
  LoaderArgs<Pattern>,
  'params' | 'search' | 'request' | 'signal' | 'context'
> {}

/** A module named by `guard`. */
export interface GuardModule {
  /**
   * Lets a request through by returning, and refuses it by throwing `redirect()`, `notFound()`, `forbidden()`,
   * `unauthorized()` or an error.
   */
  readonly guard?: (args: never) => unknown
  /** Used in its place if there is no `guard`. */
  readonly default?: (args: never) => unknown
}

/** A module named by `loader` or `layoutLoader`. */
export interface ServerModule {
  readonly loader?: (args: never) => unknown
  /** In a page's module: what belongs to one visitor. Its promise is `data.visitor` of the page. */
  readonly visitor?: (args: never) => unknown
  /** The same in a layout's module. */
  readonly layoutVisitor?: (args: never) => unknown
  /** For the search params: those that it refuses get 400. */
  readonly search?: Schema
  /** For the loader's params: a path that it refuses is not found. */
  readonly params?: Schema
  /**
   * In a layout's module: `false` declares that its loader never refuses or redirects, so the data of inner pages need
   * not wait for it. In a page's module: `true` declares that its loader must succeed before an action that is posted
   * to the page may run.
   */
  readonly guards?: boolean
  /** In a page's module: lists the URLs of its pattern that `millrace export` writes. */
  readonly paths?: () => RoutePaths | Promise<RoutePaths>
}

/** The params of one URL. Widens `Params` of any pattern. */
export type PathParams = Readonly<Record<string, string | readonly string[]>>

/**
 * What `paths` beside a page's loader gives: the params of each URL of its pattern that `millrace export` writes, as a
 * list, or one after the other by a generator.
 * @typeParam Pattern the pattern of its entry in the table, without groups.
 */
export type RoutePaths<Pattern extends EntryPattern = never> =
  Iterable<Params<Pattern>> | AsyncIterable<Params<Pattern>>

/** Answers one method of a resource route. */
export type ResourceHandler = (args: never) => Response | Promise<Response>

/** A module named by `handler`: its upper-case exports are the methods that it answers; `HEAD` follows from `GET`. */
export interface HandlerModule extends Pick<ServerModule, 'search' | 'params'> {
  /**
   * Maximum bytes of a request's body; a larger one gets 413. `Infinity` leaves the bound to the handler. Default:
   * `ACTION_BODY_LIMIT`.
   */
  readonly bodyLimit?: number
  /**
   * For the bodies of `POST`, `PUT`, `PATCH` and other methods that have one, or a list by method, which may name `DELETE`
   * too: `{ POST: newMill, PATCH: changes }`. JSON and forms are parsed; the schema gets `undefined` if no body was sent.
   * Malformed bodies get 400, those that the schema refuses 422, other types 415, forms of other sites 403.
   */
  readonly body?: Schema | Readonly<Record<string, Schema>>
  readonly [method: string]: unknown
}
