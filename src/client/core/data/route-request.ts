import { withBasePath } from '../../../shared/base-path.ts'
import {
  readRouteData,
  RouteDataError,
  type ReceivedSegment,
  type RouteDataSink,
  type SegmentContent,
} from '../../../shared/protocol/decode-route-data.ts'
import {
  BUILD_HEADER,
  PURPOSE_HEADER,
  ROUTE_DATA_FILE,
  ROUTE_DATA_PREFIX,
  ROUTE_DATA_TYPE,
  SEGMENTS_PARAM,
  type RouteDataHead,
  type RouteDataOutcome,
} from '../../../shared/protocol/route-data.ts'
import type { TextStream } from '../../../shared/protocol/hydration-data.ts'
import { parseRetryAfter } from '../../../shared/retry-after.ts'
import { ServerFailure } from '../../react/boundaries.tsx'
import type { RouteParams } from '../../react/route-view.ts'
import type { Journal } from './journal.ts'
import { pathOf, type RouteAnswer } from './known-routes.ts'
import { serverFailure } from './server-failures.ts'
import { RouteCancelled, RouteLoadError } from '../../react/router-errors.ts'

/** Options of a request. */
export interface RouteRequestOptions {
  /** Requested path and query. */
  readonly href: string
  /** Requested segments; `undefined` for all. */
  readonly wants: readonly string[] | undefined
  /** Whether the server may refuse it first. */
  readonly prefetch: boolean
  /** Whether to bypass the browser's HTTP cache. */
  readonly force: boolean
  /** Set if an action is called. */
  readonly call?: {
    /** Appended to the URL's query. */
    readonly query: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: FormData | string
  }
}

/** One request for route data, until its last deferred value. */
export interface RouteRequest extends RouteRequestOptions {
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** Ids of the segments in the answer: a guess, until the server's answer for the URL is known. */
  readonly ids: readonly string[]
  /** Params of the URL; a guess as well. */
  readonly params: RouteParams
  /** Whether no revalidation has happened since: only then may its data be cached. */
  readonly current: boolean
  /** Status of the answer; 0 before it. */
  readonly status: number
  /** Requested delay before a retry, in milliseconds. */
  readonly retryAfterMs: number | undefined
  /** The server's answer for the URL; absent before it is known. */
  readonly head?: RouteAnswer & Pick<RouteDataHead, 'left' | 'others'>
  readonly outcome?: RouteDataOutcome
  /** Characters of the segments that have arrived whole. */
  readonly size: number
  /** Received segments by id. */
  readonly segments: Map<string, ReceivedSegment>
  /** The last line of the answer has been read. */
  readonly complete?: boolean
  /** The answer is over. */
  readonly over: boolean
  /** Why it has ended early: `RouteLoadError` or `RouteCancelled`. */
  readonly failed?: Error
  /** Keeps the request running until the signal is aborted. It is aborted when no signal is left. */
  join(signal: AbortSignal): void
  /**
   * Takes what its caller knows of the page.
   * @param ids as `ids`; unchanged if absent.
   */
  describe(params: RouteParams, ids?: readonly string[]): void
  /** Some of its data may have been dropped. */
  drop(): void
}

/** The same request, for this file alone. */
type OwnRequest = { -readonly [Key in keyof RouteRequest]: RouteRequest[Key] }

/** A request's environment. */
export interface RouteRequestWorld {
  readonly buildId: string
  /** As in `HydrationState`. */
  readonly files?: true | undefined
  readonly fetch: typeof fetch
  now(): number
  /** An answer of another build has arrived. */
  outdated(): void
  /** The server is overloaded, and requests a pause from prefetches for these milliseconds. */
  busy(milliseconds: number): void
  readonly journal: Pick<Journal, 'request'>
  /**
   * An answer has told for which sessions it was made, as `session-marks.ts` has them.
   * @returns `true` if it has come too late: they were others before it.
   */
  learn?(sessions: string | undefined, isCall: boolean, startedAt: number, hasLeft?: boolean): unknown
  /** Marks of the sessions of the page. */
  pageSessions?(): string
}

/** Called during a request, in this order; after its end, only `changed`. */
interface RouteRequestListener {
  /** The server's answer for the URL is known. */
  head(head: RouteAnswer & Pick<RouteDataHead, 'sessions'>): ReturnType<RouteDataSink['head']>
  received(segment: ReceivedSegment): void
  settled(segment: ReceivedSegment, content: SegmentContent): void
  /** After each of them, and at the end. */
  changed(): void
}

/** URL of the data of a page. */
function routeDataUrl({ href, wants, call }: RouteRequestOptions, files?: true): string {
  if (files) return withBasePath(ROUTE_DATA_PREFIX) + pathOf(href).replace(/\/$/, '') + ROUTE_DATA_FILE
  const ids = wants?.length === 0 ? [''] : (wants ?? [])
  const query = [...ids.map((id) => `${SEGMENTS_PARAM}=${encodeURIComponent(id)}`), ...(call ? [call.query] : [])].join(
    '&',
  )
  return withBasePath(ROUTE_DATA_PREFIX) + href + (query && (href.includes('?') ? '&' : '?')) + query
}

/** Starts a request. It makes a single attempt: callers retry. */
export function startRouteRequest(
  options: RouteRequestOptions,
  world: RouteRequestWorld,
  listener: RouteRequestListener,
): RouteRequest {
  const { href, wants, prefetch } = options
  const startedAt = world.now()
  const controller = new AbortController()
  const { signal } = controller
  const users = new Set<AbortSignal>()
  const record = world.journal.request({ href, wants, prefetch, startedAt, status: 0 })
  const request: OwnRequest = {
    ...options,
    startedAt,
    ids: wants ?? [],
    params: {},
    current: true,
    status: 0,
    retryAfterMs: undefined,
    size: 0,
    segments: new Map(),
    over: false,
    join(user) {
      if (users.has(user)) return
      users.add(user)
      const leave = (): void => {
        users.delete(user)
        // The next page may need it too. A complete answer needs no abort, which would cost the connection.
        queueMicrotask(() => users.size === 0 && !request.complete && controller.abort())
      }
      user.addEventListener('abort', leave)
    },
    describe(params, ids = request.ids) {
      Object.assign(request, { params, ids })
    },
    drop() {
      request.current = false
    },
  }
  void run(request, world, listener, signal)
    .catch((error: unknown) => {
      request.failed = signal.aborted ? new RouteCancelled() : namedFailure(href, error)
    })
    .then(() => {
      request.over = true
      const { status, failed } = request
      Object.assign(record, { status, endedAt: world.now() }, failed && { failed: failed.message })
      listener.changed()
    })
  return request
}

/** @throws the errors of `namedFailure`: of the network, of the reader, and of answers without route data. */
async function run(
  request: OwnRequest,
  world: RouteRequestWorld,
  listener: RouteRequestListener,
  signal: AbortSignal,
): Promise<void> {
  const { body, headers, status } = await fetchRouteData(request, world, signal)
  const { buildId, files } = world
  const retryAfterMs = parseRetryAfter(headers.get('Retry-After'), world.now())
  Object.assign(request, { status, retryAfterMs })
  if (retryAfterMs !== undefined && (status >= 500 || status === 429)) world.busy(retryAfterMs)
  if ((headers.get(BUILD_HEADER) ?? buildId) !== buildId) world.outdated()
  // A server of files knows no type for data; the reader refuses what is none.
  const isOther = !files && headers.get('Content-Type')?.split(';')[0] !== ROUTE_DATA_TYPE
  if (body === null || isOther || status === 409) {
    void body?.cancel()
    // 511 is a captive portal that wants to be seen (RFC 6585, section 6).
    const passing = (status >= 500 && status !== 511) || status === 429
    // An answer without a build header is from a portal, or a proxy without its server. A redirect has no status here.
    const isOurs = headers.has(BUILD_HEADER) || (status >= 400 && status < 500)
    const reason = isOurs ? 'server' : 'offline'
    throw new RouteLoadError('route data', request.href, { passing, reason, retryAfterMs, status: status || undefined })
  }
  await readRouteData(
    body.pipeThrough(new TextDecoderStream()) as unknown as TextStream,
    sinkOf(request, world, listener, signal),
    serverFailure,
    lostOnTheWay,
  )
}

function fetchRouteData(
  request: RouteRequestOptions,
  world: RouteRequestWorld,
  signal: AbortSignal,
): Promise<Response> {
  const { prefetch, call, force } = request
  return world.fetch(routeDataUrl(request, world.files), {
    ...(call && { method: 'POST', body: call.body }),
    headers: {
      ...call?.headers,
      [BUILD_HEADER]: world.buildId,
      ...(prefetch && { [PURPOSE_HEADER]: 'prefetch', 'Sec-Purpose': 'prefetch' }),
    },
    priority: prefetch ? 'low' : 'high',
    redirect: 'manual',
    // A server of files says nothing about their lifetime, and browsers would guess.
    cache: force || world.files ? 'no-cache' : 'default',
    signal,
  })
}

/** Writes the answer into the request, and calls the listener. */
function sinkOf(
  request: OwnRequest,
  { buildId, files, learn, outdated }: RouteRequestWorld,
  listener: RouteRequestListener,
  signal: AbortSignal,
): RouteDataSink {
  return {
    head(head) {
      if (files && head.build !== buildId) {
        outdated()
        throw new RouteDataError('version')
      }
      request.head = head
      learn?.(head.sessions, !!request.call && !head.others, request.startedAt, head.left)
      const ready = listener.head(head)
      listener.changed()
      return ready
    },
    segment(segment) {
      if (signal.aborted) return
      request.segments.set(segment.segment, segment)
      listener.received(segment)
      listener.changed()
    },
    settled(id, content) {
      request.size += content.size
      const segment = request.segments.get(id)
      if (segment && !signal.aborted) listener.settled(segment, content)
    },
    outcome(outcome) {
      request.outcome = outcome
      listener.changed()
    },
    redirect(redirect) {
      request.head = { redirect }
      listener.changed()
    },
    done() {
      request.complete = true
    },
  }
}

function namedFailure(href: string, error: unknown): RouteLoadError {
  if (error instanceof RouteLoadError) return error
  // A retry may complete an answer that was cut off, but not fix one that is not route data.
  const passing = !(error instanceof RouteDataError) || error.kind === 'truncated'
  return new RouteLoadError('route data', href, { passing, reason: passing ? 'offline' : 'server', cause: error })
}

/** Rejection of a deferred value whose answer was cut off. A malformed answer is not a network failure. */
function lostOnTheWay(error: unknown): unknown {
  const { kind = 'truncated', message } = Object(error) as Partial<RouteDataError>
  return kind === 'truncated' ? Object.assign(new ServerFailure(), { message }) : error
}
