import { layoutId, pageId, shownChain, type Outcome, type RouteParams } from '../../react/route-view.ts'
import type { RouteDataOutcome, RouteDataRedirect, SegmentValues } from '../../../shared/protocol/route-data.ts'
import type { Route, RouteTable } from '../../../shared/route-table.ts'
import { pathOf, segmentPath, type KnownRoutes, type Verdict } from './known-routes.ts'
import { ENTRY_LIFETIME_MS, matchesTarget, type CacheEntry } from './route-cache.ts'
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

/** What is asked for although it is known: nothing, what has outlived its lifetime, everything. */
export type Anew = 'nothing' | 'stale' | 'all'

/** How something is loaded. */
export interface StoreLoadOptions {
  readonly signal: AbortSignal
  readonly prefetch?: boolean
  readonly anew?: Anew
  /** Wait for deferred values as well. */
  readonly whole?: boolean
}

/** What is known of a URL, and what is not. */
export interface RoutePlan {
  /** As far as it is known: by an earlier answer, else by the table. */
  readonly page: LoadedPage
  /** The answer says that it leads elsewhere. */
  readonly redirect: RouteDataRedirect | undefined
  /** No page: only the browser itself can go there. */
  readonly document: boolean
  /** Whether the server must say what the URL is. */
  readonly asksVerdict: boolean
  /** Ids of segments with data that is neither here nor on its way. */
  readonly missing: readonly string[]
  /** Requests that bring some of the data. */
  readonly joins: ReadonlySet<RouteRequest>
}

/** A page's data. */
export interface LoadedPage {
  readonly kind: 'page'
  /** `null` where no route answers, `undefined` where nobody knows of one. */
  readonly route: Route | null | undefined
  readonly params: RouteParams
  /** After the page's schema; `undefined` for a page without one. */
  readonly search: unknown
  /** By segment id. */
  readonly data: Readonly<Record<string, unknown>>
  readonly outcome?: RouteDataOutcome
  /** Of the answer; 200 where none was needed. */
  readonly status: number
  readonly retryAfterMs: number | undefined
  /** Cache keys of what is shown. */
  readonly keys: readonly string[]
  /** Something is older than its lifetime, and is to be asked for again once it is shown. */
  readonly stale: boolean
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
  const routes = new Map(table.routes.map((route) => [route.key, route]))
  /** Where no route answers, the layout of the root stands around the fallback. */
  const idsOf = (route: Route | null | undefined, outcome?: RouteDataOutcome): readonly string[] =>
    dataIds(route === null && table.root ? { chain: [table.root], key: '', definition: {} } : route, outcome)
  const routeOf = (head?: Verdict) => (head?.route && routes.get(head.route)) as Route | null | undefined
  const requests = new Set<RouteRequest>()
  /** Called once, when a request has got on. */
  const waiting = new Set<() => void>()
  /** Something has been dropped: the browser's own cache may have answers of before, and does not hear of it. */
  let dropped = false

  function changed(): void {
    for (const go of waiting) go()
    waiting.clear()
    onChange()
  }

  /** @param used requests that have been waited for: what they have brought counts, kept or not. */
  function plan(href: string, anew: Anew = 'nothing', used: readonly RouteRequest[] = []): RoutePlan {
    const own = used.findLast((request) => request.href === href)
    const entry = usable(known.verdict(href), anew)
    const verdict = own?.head ?? (entry?.value as Verdict | undefined)
    const match = verdict ? undefined : table.match(pathOf(href))
    const route = verdict ? routeOf(verdict) : match?.route
    const params = verdict?.params ?? (match && 'params' in match ? match.params : {})
    const { outcome, status = 200, retryAfterMs } = own ?? {}
    const running = anew === 'all' ? [] : [...requests].filter(({ current }) => current)
    const same = running.find((request) => request.href === href)
    const asksVerdict = !own && !entry && !same
    const joins = new Set(!own && !entry && same ? [same] : [])
    const missing: string[] = []
    const data: Record<string, unknown> = {}
    const keys: string[] = []
    let search: unknown
    let stale = (!own && isStale(entry)) || used.some(({ current }) => !current)

    for (const id of idsOf(route, outcome)) {
      const key = known.keyOf(id, href, params)
      const brings = (request: RouteRequest): boolean =>
        request.ids.includes(id) && known.keyOf(id, request.href, request.params) === key
      const kept = usable(known.entry(key), anew)
      const bringer = used.find((request) => request.segments.has(id) && brings(request))
      // Kept values of equal content are the former object, so that nothing is rendered anew for them.
      const isKept = kept && !(bringer && kept.receivedAt < bringer.startedAt)
      let values = isKept ? (kept.value as SegmentValues) : bringer?.segments.get(id)?.values
      if (!values && own?.over && outcome && own.ids.includes(id)) values = {}
      if (values) {
        if (values.data !== undefined) data[id] = values.data
        if ('search' in values) search = values.search
        keys.push(key)
        stale ||= !bringer && isStale(kept)
        continue
      }
      const request = running.find(brings)
      if (request) joins.add(request)
      else missing.push(id)
    }
    const page = { kind: 'page', route, params, search, data, status, retryAfterMs, keys, stale } as const
    return {
      page: outcome ? { ...page, outcome } : page,
      redirect: verdict?.redirect,
      document: verdict?.document ?? route?.kind === 'handler',
      asksVerdict,
      missing,
      joins,
    }
  }

  function isStale(entry: CacheEntry | undefined): boolean {
    return entry !== undefined && known.stateOf(entry) === 'stale'
  }

  function usable(entry: CacheEntry | undefined, anew: Anew): CacheEntry | undefined {
    return anew === 'all' || (anew === 'stale' && isStale(entry)) ? undefined : entry
  }

  function start(href: string, { page, missing }: RoutePlan, prefetch: boolean, force: boolean): RouteRequest {
    const { route } = page
    const request = startRouteRequest({ href, wants: route ? missing : undefined, prefetch, force }, world, {
      head(head) {
        if (head.route !== route?.key) request.ids = idsOf(routeOf(head))
        request.params = head.params ?? {}
      },
      received: ({ segment, uses }) => known.noteUses(segment, uses),
      settled(segment, content) {
        if (!request.current) return
        const id = segment.segment
        known.keepSegment(id, href, known.keyOf(id, href, request.params), { ...segment, ...content })
      },
      changed() {
        const { head, over, failed, outcome, status, current } = request
        if (over) requests.delete(request)
        // A redirect, a refusal or a failure is nothing to keep: it may be over with the next sign-in, or the next try.
        if (over && head && !head.redirect && !failed && !outcome && status < 400 && current) {
          const lifetimes = [...request.segments.values()].map(({ lifetime = 0 }) => lifetime * 1000)
          known.keepVerdict(href, head, Math.max(...lifetimes, ENTRY_LIFETIME_MS))
        }
        changed()
      },
    })
    request.params = page.params
    requests.add(request)
    onChange()
    return request
  }

  async function load(
    href: string,
    { signal, prefetch = false, anew = 'nothing', whole = false }: StoreLoadOptions,
  ): Promise<LoadedRoute> {
    const used: RouteRequest[] = []
    for (let sent = 0; ;) {
      if (signal.aborted) throw new RouteCancelled()
      const own = used.findLast((request) => request.href === href)
      // Others' requests may fail without harm: what they do not bring is asked for here.
      if (own?.failed) throw own.failed
      const planned = plan(href, sent > 0 ? 'nothing' : anew, used)
      const { redirect, document, asksVerdict, missing } = planned
      if (redirect) return { kind: 'redirect', redirect }
      if (document) return { kind: 'document' }
      const joins = [...planned.joins]
      const isComplete = !asksVerdict && missing.length === 0 && joins.length === 0
      if (isComplete && (!own || own.over || (!whole && isReady(own)))) return planned.page
      // An answer that ends in order without what it was asked for is one that broke off. A call asks for nothing by name.
      const lost = own?.over && !own.call && missing.some((id) => own.wants?.includes(id) ?? true)
      if (lost) throw new RouteLoadError('route data', href, { passing: true, reason: 'offline' })
      if (asksVerdict || missing.length > 0) {
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
      const request = { ...brought, ids: idsOf(routeOf(brought.head)) }
      requests.add(request)
      try {
        go()
      } finally {
        requests.delete(request)
      }
    },
    revalidate(targets) {
      dropped ||= targets.length > 0
      for (const request of requests) {
        const paths = [pathOf(request.href), ...request.ids.map((id) => segmentPath(id, request.href))]
        // Its tags are not known yet, so it may have any.
        if (paths.some((path) => matchesTarget({ path, tags: targets }, targets))) request.current = false
      }
      known.revalidate(targets)
    },
  }
}

/**
 * Ids of the segments of a route whose data comes from the server, root first.
 * @param outcome where a fallback is shown: what it leaves out has no data.
 */
export function dataIds(
  route: Pick<Route, 'chain' | 'key' | 'definition'> | null | undefined,
  outcome?: Outcome,
): readonly string[] {
  if (!route) return []
  const { chain, key, definition } = route
  const ids = shownChain({ chain, outcome }).flatMap((segment) =>
    segment.definition.layoutLoader ? layoutId(segment.key) : [],
  )
  return definition.loader && !outcome ? [...ids, pageId(key)] : ids
}

/**
 * Whether all that was asked for is here, but for deferred values; without any, a refusal may still come, and where no
 * route answers, one does.
 */
function isReady({ head, outcome, ids, segments }: RouteRequest): unknown {
  return outcome ?? (head?.route && ids.length > 0 && ids.every((id) => segments.has(id)))
}
