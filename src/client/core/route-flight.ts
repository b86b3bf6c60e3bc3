import { readRouteData, RouteDataError, type ReceivedSegment } from '../../shared/protocol/decode-route-data.ts'
import {
  BUILD_HEADER,
  PURPOSE_HEADER,
  ROUTE_DATA_PREFIX,
  ROUTE_DATA_TYPE,
  SEGMENTS_PARAM,
  type RouteDataHead,
  type RouteDataOutcome,
} from '../../shared/protocol/route-data.ts'
import type { TextStream } from '../../shared/protocol/hand-off.ts'
import type { Journal } from './journal.ts'
import { parseRetryAfter } from './retry.ts'
import { withServerFailures } from './server-failures.ts'
import { RouteCancelled, RouteLoadError } from './router-errors.ts'

/** One request for route data, from its start to the last deferred value. */
export interface Flight {
  /** Path and query that it asks for. */
  readonly href: string
  /** Who may refuse it first. */
  readonly prefetch: boolean
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** Segments that have been asked for; `undefined` for all. */
  readonly wants: readonly string[] | undefined
  /** Status of the answer; 0 before it is there. */
  status: number
  /** Milliseconds after which a failing server wants to be asked again. */
  retryAfterMs: number | undefined
  /** What the answer says the URL is; absent before it is known. */
  head?: RouteDataHead
  outcome?: RouteDataOutcome
  /** Whether the whole answer has come, but for what was not asked for. */
  complete: boolean
  /** What has come, by segment id. */
  readonly segments: ReadonlyMap<string, ReceivedSegment>
  /** Settles when all that was asked for is known, but for deferred values. Rejects with `RouteLoadError` or `RouteCancelled`. */
  readonly ready: Promise<void>
  /** Settles, never rejects, when nothing more will come. */
  readonly over: Promise<void>
  /** Registers somebody who needs it. The flight is aborted when the last one has left before its end. */
  join(): () => void
}

/** What a flight needs of the world. */
export interface FlightWorld {
  readonly buildId: string
  readonly fetch: typeof fetch
  now(): number
  /** An answer of another build than ours has come. */
  outdated(): void
  readonly journal: Pick<Journal, 'request'>
}

/** Told while a flight is under way, in this order; nothing after its end. */
export interface FlightListener {
  /** Ids of the segments that must come before the flight is ready. */
  expects(head: RouteDataHead): readonly string[]
  received(segment: ReceivedSegment): void
  settled(id: string, content: { readonly hash: number; readonly size: number }): void
  /** @param failed set when the answer is not complete. */
  over(failed: unknown): void
}

/** How a flight is started. */
export interface FlightRequest {
  readonly href: string
  readonly wants: readonly string[] | undefined
  readonly prefetch: boolean
  /** Whether the browser's own cache must ask the server. */
  readonly force: boolean
}

/** URL of the data of a page. */
export function routeDataUrl(href: string, wants: readonly string[] | undefined): string {
  if (wants === undefined) return ROUTE_DATA_PREFIX + href
  const ids = wants.length === 0 ? [''] : wants
  const names = ids.map((id) => `${SEGMENTS_PARAM}=${encodeURIComponent(id)}`).join('&')
  return `${ROUTE_DATA_PREFIX}${href}${href.includes('?') ? '&' : '?'}${names}`
}

/** Starts a request. It is over in one try: trying again is the business of those who wait. */
export function startFlight(request: FlightRequest, world: FlightWorld, listener: FlightListener): Flight {
  const { href, wants, prefetch, force } = request
  const controller = new AbortController()
  const segments = new Map<string, ReceivedSegment>()
  let resolveReady = (): void => undefined
  let rejectReady = (_reason: unknown): void => undefined
  const ready = new Promise<void>((resolve, reject) => {
    resolveReady = resolve
    rejectReady = reject
  })
  const state = { consumers: 0, over: false }
  const record = world.journal.request({ href, wants, prefetch, startedAt: world.now(), status: 0 })
  ready.catch(() => undefined) // whoever waits hears of it

  const flight: Flight = {
    href,
    prefetch,
    startedAt: world.now(),
    wants,
    status: 0,
    complete: false,
    retryAfterMs: undefined,
    segments,
    ready,
    over: run().then(
      () => end(undefined),
      (error: unknown) => end(controller.signal.aborted ? new RouteCancelled() : namedFailure(error)),
    ),
    join() {
      state.consumers += 1
      let joined = true
      return () => {
        if (!joined) return
        joined = false
        state.consumers -= 1
        if (state.consumers === 0 && !state.over) controller.abort(new RouteCancelled())
      }
    },
  }
  return flight

  /** What has come is kept before anybody who waits goes on. */
  function end(failed: unknown): void {
    state.over = true
    flight.complete = failed === undefined
    record.endedAt = world.now()
    record.status = flight.status
    if (failed instanceof Error) record.failed = failed.message
    listener.over(failed)
    if (failed === undefined) resolveReady()
    else rejectReady(failed)
  }

  function namedFailure(error: unknown): unknown {
    if (error instanceof RouteLoadError) return error
    // An answer that broke off may come whole next time; one that is no route data will not.
    const passing = !(error instanceof RouteDataError) || error.kind === 'truncated'
    return new RouteLoadError('route data', href, { passing, cause: error })
  }

  async function run(): Promise<void> {
    const answer = await world.fetch(routeDataUrl(href, wants), {
      headers: {
        [BUILD_HEADER]: world.buildId,
        ...(prefetch ? { [PURPOSE_HEADER]: 'prefetch', 'Sec-Purpose': 'prefetch' } : {}),
      },
      priority: prefetch ? 'low' : 'high',
      redirect: 'manual',
      cache: force ? 'no-cache' : 'default',
      signal: controller.signal,
    })
    flight.status = answer.status
    flight.retryAfterMs = parseRetryAfter(answer.headers.get('Retry-After'), world.now())
    const build = answer.headers.get(BUILD_HEADER)
    if (build !== null && build !== world.buildId) world.outdated()
    const { body } = answer
    const type = answer.headers.get('Content-Type')?.split(';', 1)[0]
    if (body === null || type !== ROUTE_DATA_TYPE || answer.status === 409) {
      void body?.cancel()
      throw new RouteLoadError('route data', href, {
        passing: answer.status >= 500 || answer.status === 429,
        retryAfterMs: flight.retryAfterMs,
      })
    }
    let expected: Set<string> | undefined
    const arrived = (id: string): void => {
      expected?.delete(id)
      if (expected?.size === 0) resolveReady()
    }
    await readRouteData(body.pipeThrough(new TextDecoderStream()) as unknown as TextStream, {
      head(head) {
        flight.head = head
        if (head.route === undefined) return resolveReady()
        expected = new Set(listener.expects(head))
      },
      segment(received) {
        if (controller.signal.aborted) return
        const { values } = received
        const segment = { ...received, values: { ...values, data: withServerFailures(values.data) } }
        segments.set(segment.segment, segment)
        listener.received(segment)
        arrived(segment.segment)
      },
      settled: (id, content) => {
        if (!controller.signal.aborted) listener.settled(id, content)
      },
      outcome(outcome) {
        flight.outcome = outcome
        resolveReady()
      },
      redirect(redirect) {
        const { v, build: from } = flight.head as RouteDataHead
        flight.head = { v, build: from, redirect }
        resolveReady()
      },
    })
  }
}
