import type { RouteDataRedirect } from '../../../shared/protocol/route-data.ts'
import type { RouteTable } from '../../../shared/route-table.ts'
import { pathOf, segmentPath, type KnownRoutes } from './known-routes.ts'
import { ENTRY_LIFETIME_MS, matchesTarget } from './route-cache.ts'
import { createRoutePlanner, type Anew, type LoadedPage, type RoutePlan } from './route-plan.ts'
import { startRouteRequest, type RouteRequest, type RouteRequestWorld } from './route-request.ts'
import { RouteCancelled, RouteLoadError } from '../../react/router-errors.ts'

/** Brings together what a page needs: what is known, what is under way, and what must be asked for. */
export interface RouteStore {
  /** Requests under way. */
  readonly requests: ReadonlySet<RouteRequest>
  /** What would have to be asked for, if this URL were to be shown now. */
  plan(href: string): RoutePlan
  /**
   * Everything that a page needs, but for deferred values. Requests that bring some of it go on until the signal is
   * aborted, which is for who shows the page to do once it is left.
   * @param href path and query.
   * @throws {RouteLoadError} when a request has failed.
   * @throws {RouteCancelled} when the signal is aborted.
   */
  load(href: string, options: StoreLoadOptions): Promise<LoadedRoute>
  /** What `go` loads at once takes what this request for all segments has brought, be it to be kept or not. */
  bring(request: RouteRequest, go: () => void): void
  /** Drops what is known by tag or path; what requests under way bring of it is shown to who waits, but not kept. */
  revalidate(targets: readonly string[]): void
}

/** How something is loaded. */
export interface StoreLoadOptions {
  readonly signal: AbortSignal
  readonly prefetch?: boolean
  readonly anew?: Anew
  /** Wait for deferred values as well. */
  readonly whole?: boolean
}

/** A page with all it needs, or where to go instead. */
export type LoadedRoute =
  LoadedPage | { readonly kind: 'redirect'; readonly redirect: RouteDataRedirect } | { readonly kind: 'document' }

const MAX_REQUESTS = 5 // an answer may turn out to depend on more of the URL than was known; that ends after a few

/** @param onChange called when a request begins or gets on. */
export function createRouteStore(
  table: RouteTable,
  known: KnownRoutes,
  world: RouteRequestWorld,
  onChange: () => void,
): RouteStore {
  const requests = new Set<RouteRequest>()
  const { plan, idsOf } = createRoutePlanner(table, known, requests)
  /** Called once, when a request has got on. */
  const waiting = new Set<() => void>()
  /** Something has been dropped: the browser's own cache may have answers of before, and does not hear of it. */
  let dropped = false

  function changed(): void {
    for (const go of waiting) go()
    waiting.clear()
    onChange()
  }

  function start(href: string, { page, missing }: RoutePlan, prefetch: boolean, force: boolean): RouteRequest {
    const { route } = page
    const request = startRouteRequest({ href, wants: route ? missing : undefined, prefetch, force }, world, {
      head(head) {
        if (head.route !== route?.key) request.ids = idsOf(head)
        request.params = head.params ?? {}
      },
      received: ({ segment, uses }) => known.noteUses(segment, uses),
      settled(segment, content) {
        if (!request.current) return
        const id = segment.segment
        known.keepSegment(id, href, known.keyOf(id, href, request.params), { ...segment, ...content })
      },
      changed() {
        if (request.over) {
          requests.delete(request)
          keepVerdict(known, request)
        }
        changed()
      },
    })
    request.params = page.params
    requests.add(request)
    onChange()
    return request
  }

  async function load(href: string, options: StoreLoadOptions): Promise<LoadedRoute> {
    const { signal, prefetch = false, anew = 'nothing', whole = false } = options
    const used: RouteRequest[] = []
    for (let sent = 0; ;) {
      if (signal.aborted) throw new RouteCancelled()
      const planned = plan(href, sent > 0 ? 'nothing' : anew, used)
      const { own, page, redirect, document, asksVerdict, missing } = planned
      // Others' requests may fail without harm: what they do not bring is asked for here.
      if (own?.failed) throw own.failed
      if (redirect) return { kind: 'redirect', redirect }
      if (document) return { kind: 'document' }
      const joins = [...planned.joins]
      const asks = asksVerdict || missing.length > 0
      if (!asks && joins.length === 0 && (!own || own.over || (!whole && isReady(own)))) return page
      if (own && isCutOff(own, missing))
        throw new RouteLoadError('route data', href, { passing: true, reason: 'offline' })
      if (asks) {
        if (sent === MAX_REQUESTS) throw new RouteLoadError('route data', href)
        sent += 1
        joins.push(start(href, planned, prefetch, dropped || anew !== 'nothing'))
      }
      const joined = joins.filter((request) => !used.includes(request))
      for (const request of joined) request.join(signal)
      used.push(...joined)
      // What has just been joined may have brought all that is needed.
      if (joined.length > 0) continue
      await new Promise<void>((go) => {
        waiting.add(go)
        signal.addEventListener('abort', () => go())
      })
    }
  }

  return {
    requests,
    plan: (href) => plan(href),
    load,
    bring(brought, go) {
      const request = { ...brought, ids: idsOf(brought.head) }
      requests.add(request)
      try {
        go()
      } finally {
        requests.delete(request)
      }
    },
    revalidate(targets) {
      dropped ||= targets.length > 0
      for (const request of requests) if (mayBring(request, targets)) request.current = false
      known.revalidate(targets)
    },
  }
}

/** An answer has broken off that ends in order without what it was asked for. A call asks for nothing by name. */
function isCutOff({ over, call, wants }: RouteRequest, missing: readonly string[]): boolean {
  return over && !call && missing.some((id) => wants?.includes(id) ?? true)
}

/** Redirects, refusals and failures are not kept: the next sign-in, or the next try, may end them. */
function keepVerdict(
  known: KnownRoutes,
  { href, head, failed, outcome, status, current, segments }: RouteRequest,
): void {
  if (!head || head.redirect || failed || outcome || status >= 400 || !current) return
  const lifetimes = [...segments.values()].map(({ lifetime = 0 }) => lifetime * 1000)
  known.keepVerdict(href, head, Math.max(...lifetimes, ENTRY_LIFETIME_MS))
}

/** Whether an answer may have data that these targets name. Its tags are not known yet, so it may have any. */
function mayBring({ href, ids }: RouteRequest, targets: readonly string[]): boolean {
  const paths = [pathOf(href), ...ids.map((id) => segmentPath(id, href))]
  return paths.some((path) => matchesTarget({ path, tags: targets }, targets))
}

/**
 * Whether all that was asked for is here, but for deferred values; without any, a refusal may still come, and where no
 * route answers, one does.
 */
function isReady({ head, outcome, ids, segments }: RouteRequest): unknown {
  return outcome ?? (head?.route && ids.length > 0 && ids.every((id) => segments.has(id)))
}
