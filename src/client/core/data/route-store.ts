import type { HydrationState } from '../../../shared/protocol/hydration-data.ts'
import type { RouteDataRedirect } from '../../../shared/protocol/route-data.ts'
import { mergeMarks } from '../../../shared/protocol/session-marks.ts'
import type { RouteTable } from '../../../shared/route-table.ts'
import { pathOf, segmentPath, type KeptSegment, type KnownRoutes } from './known-routes.ts'
import { ENTRY_LIFETIME_MS, matchesTarget } from './route-cache.ts'
import { createRoutePlanner, type Reload, type LoadedPage, type RoutePlan, type RoutePlanner } from './route-plan.ts'
import { startRouteRequest, type RouteRequest, type RouteRequestWorld } from './route-request.ts'
import { RouteCancelled, RouteLoadError } from '../../react/router-errors.ts'

/** Combines the data of a page: from the cache, from running requests, and from new ones. */
export interface RouteStore extends Pick<RoutePlanner, 'idsOf'> {
  /** Running requests. */
  readonly requests: ReadonlySet<RouteRequest>
  /** What would have to be requested to show this URL now. */
  plan(href: string): RoutePlan
  /**
   * Loads everything that a page needs, except deferred values. Its requests continue until the signal is aborted:
   * abort it when the page is left.
   * @param href path and query.
   * @throws {RouteLoadError} if a request has failed.
   * @throws {RouteCancelled} if the signal is aborted.
   */
  load(href: string, options: StoreLoadOptions): Promise<LoadedRoute>
  /** Makes the loads that `go` starts use the result of this request for all segments, cacheable or not. */
  bring(request: RouteRequest, go: () => void): void
  /**
   * Drops cached data by tag or path, as `matchesTarget`; running requests still deliver it to their callers, but it is
   * not cached.
   */
  revalidate(targets: readonly string[], before?: number): void
  /** Drops what was loaded for other sessions, as `session-marks.ts` has them. */
  learn(sessions: string | undefined): void
}

/** Options of loading. */
export interface StoreLoadOptions {
  readonly signal: AbortSignal
  readonly prefetch?: boolean
  readonly reload?: Reload
  /** Wait for deferred values as well. */
  readonly whole?: boolean
}

/** A page with everything that it needs, or a redirect. */
export type LoadedRoute =
  LoadedPage | { readonly kind: 'redirect'; readonly redirect: RouteDataRedirect } | { readonly kind: 'document' }

/** A store's environment. */
export interface RouteStoreWorld extends RouteRequestWorld {
  /** Of the document, as in `HydrationState`. */
  readonly sessions?: string | undefined
  /** Of the document, as in `HydrationState`. */
  readonly asks?: HydrationState['asks'] | undefined
  /**
   * What is on screen may be of other sessions than what follows. If the page of an answer is complete, it may be on screen
   * beside what others have left, and its deferred values wait.
   * @returns resolves when the screen was loaded again.
   */
  mixed?(): Promise<void>
}

const MAX_REQUESTS = 5 // answers may reveal further dependencies on the URL; this bounds the rounds

/** @param onChange called when a request starts or progresses. */
export function createRouteStore(
  table: RouteTable,
  known: KnownRoutes,
  world: RouteStoreWorld,
  onChange: () => void,
): RouteStore {
  let marks = mergeMarks('', world.sessions)
  const requests = new Set<RouteRequest>()
  const { plan, idsOf } = createRoutePlanner(table, known, requests, world.asks)
  /** Called once, at the next progress of a request. */
  const waiting = new Set<() => void>()

  function changed(): void {
    for (const go of waiting) if (waiting.delete(go)) go()
    onChange()
  }

  function learn(sessions: string | undefined, source?: RouteRequest): Promise<void> | undefined {
    const former = marks
    marks = mergeMarks(former, sessions)
    if (marks.startsWith(former)) return undefined
    revalidate(['/*'], undefined, source)
    return source ? void world.mixed?.() : world.mixed?.()
  }

  function start(href: string, { page: { route, params }, missing }: RoutePlan, prefetch: boolean, force: boolean) {
    const request = startRouteRequest({ href, wants: route ? missing : undefined, prefetch, force }, world, {
      head(head) {
        request.describe(head.params ?? {}, head.route === route?.key ? undefined : idsOf(head))
        return learn(head.sessions, isReady(request) ? undefined : request)
      },
      received: (segment) => known.note(href, request.params, segment, request.head?.at),
      settled: (segment, content) => keepSegment(known, request, { ...segment, ...content }),
      changed() {
        if (request.over && requests.delete(request)) keepAnswer(known, request)
        changed()
      },
    })
    request.describe(params)
    requests.add(request)
    onChange()
    return request
  }

  async function load(href: string, options: StoreLoadOptions): Promise<LoadedRoute> {
    const { signal, prefetch = false, reload = 'nothing', whole = false } = options
    const used: RouteRequest[] = []
    for (let sent = 0; ;) {
      if (signal.aborted) throw new RouteCancelled()
      const planned = plan(href, sent > 0 ? 'nothing' : reload, used)
      const { own, page, redirect, document, asksServer, missing } = planned
      // Requests of others may fail without harm: missing data is requested here.
      if (own?.failed) throw own.failed
      if (redirect) return { kind: 'redirect', redirect }
      if (document) return { kind: 'document' }
      const joins = [...planned.joins]
      const asks = asksServer || missing.length > 0
      if (!asks && joins.length === 0 && (!own || own.over || (!whole && isReady(own)))) return page
      if (own) refuseCutOff(own, missing)
      if (asks) {
        if (sent === MAX_REQUESTS) throw new RouteLoadError('route data', href)
        sent += 1
        // After a drop, the browser's HTTP cache may have outdated answers: it is not notified.
        joins.push(start(href, planned, prefetch, known.drops > 0 || reload !== 'nothing'))
      }
      const joined = joins.filter((request) => !used.includes(request))
      for (const request of joined) request.join(signal)
      used.push(...joined)
      // The joined requests may have delivered everything.
      if (joined.length > 0) continue
      await nextProgress(waiting, signal)
    }
  }

  function revalidate(targets: readonly string[], before?: number, source?: RouteRequest): void {
    for (const request of requests) {
      if (request !== source && mayBring(request, targets, before)) request.drop()
    }
    known.revalidate(targets, before)
  }

  return {
    requests,
    plan,
    idsOf,
    load,
    bring(brought, go) {
      // Deferred values may still be arriving in it.
      const request = Object.assign(Object.create(brought) as RouteRequest, { ids: idsOf(brought.head) })
      requests.add(request)
      try {
        go()
      } finally {
        requests.delete(request)
      }
    },
    revalidate,
    learn,
  }
}

/** Resolves when a function of `waiting` is called, or when the signal is aborted. */
function nextProgress(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((go) => {
    waiting.add(go)
    signal.addEventListener('abort', () => go())
  })
}

/** @throws {RouteLoadError} if an answer ended properly without its requested segments. A call names no segments. */
function refuseCutOff({ href, over, call, wants }: RouteRequest, missing: readonly string[]): void {
  if (over && !call && missing.some((id) => wants?.includes(id) ?? true))
    throw new RouteLoadError('route data', href, { passing: true, reason: 'offline' })
}

function keepSegment(
  known: KnownRoutes,
  { href, params, current }: RouteRequest,
  segment: KeptSegment & { readonly segment: string },
): void {
  const id = segment.segment
  if (current) known.keepSegment(id, href, known.keyOf(id, href, params), segment)
}

/** Redirects, refusals and failures are not cached: the next sign-in, or the next try, may end them. */
function keepAnswer(
  known: KnownRoutes,
  { href, head, failed, outcome, status, current, segments }: RouteRequest,
): void {
  if (!head || head.redirect || failed || outcome || status >= 400 || !current) return
  const lifetimes = [...segments.values()].map(({ lifetime = 0 }) => lifetime * 1000)
  known.keepAnswer(href, head, Math.max(...lifetimes, ENTRY_LIFETIME_MS))
}

/** Whether an answer may contain data of these targets. Its tags are not known yet, so it may have any. */
function mayBring({ href, ids, head }: RouteRequest, targets: readonly string[], before?: number): boolean {
  const paths = [pathOf(href), ...ids.map((id) => segmentPath(id, href))]
  return paths.some((path) => matchesTarget({ path, tags: targets, at: head?.at }, targets, before))
}

/**
 * Whether all requested data has arrived, except deferred values. Without any segments, a refusal may still follow, and
 * if no route answers, one does.
 */
function isReady({ head, outcome, ids, segments }: RouteRequest): unknown {
  return outcome ?? (head?.route && ids.length > 0 && ids.every((id) => segments.has(id)))
}
