import { layoutId, pageId, shownChain, type Outcome, type RouteParams } from '../../react/route-view.ts'
import type { RouteDataOutcome, RouteDataRedirect, SegmentValues } from '../../../shared/protocol/route-data.ts'
import type { Route, RouteTable } from '../../../shared/route-table.ts'
import { pathOf, type KnownRoutes, type RouteAnswer } from './known-routes.ts'
import type { CacheEntry } from './route-cache.ts'
import type { RouteRequest } from './route-request.ts'

/** What to request although it is cached: nothing, expired data, everything. */
export type Reload = 'nothing' | 'stale' | 'all'

/** The known and the missing parts of a URL's page. */
export interface RoutePlan {
  /** The last awaited request for this URL. */
  readonly own: RouteRequest | undefined
  /** The known part: from an earlier answer, else from the table. */
  readonly page: LoadedPage
  /** Set if the URL redirects. */
  readonly redirect: RouteDataRedirect | undefined
  /** Not a page: only the browser itself can go there. */
  readonly document: boolean
  /** Whether the server must decide what the URL is. */
  readonly asksServer: boolean
  /** Ids of segments whose data is neither cached nor being loaded. */
  readonly missing: readonly string[]
  /** Running requests with some of the data. */
  readonly joins: ReadonlySet<RouteRequest>
}

/** A page's data. */
export interface LoadedPage {
  readonly kind: 'page'
  /** `null` if no route answers, `undefined` if unknown. */
  readonly route: Route | null | undefined
  readonly params: RouteParams
  /** After the page's schema; `undefined` for a page without one. */
  readonly search: unknown
  /** By segment id. */
  readonly data: Readonly<Record<string, unknown>>
  readonly outcome?: RouteDataOutcome | undefined
  /** Of the answer; 200 without one. */
  readonly status: number
  readonly retryAfterMs: number | undefined
  /** Characters of the answers that were awaited for it. */
  readonly size: number
  /** The last drop that the URL's answer contains, as in `drops-event.ts`; absent if all is cached. */
  readonly at?: number | undefined
  /** Cache keys of the shown data. */
  readonly keys: readonly string[]
  /** Part of it is expired: reload it after showing it. */
  readonly stale: boolean
}

/** Computes the needs of a page. Reads cache and running requests, and changes neither. */
export interface RoutePlanner {
  /** @param used requests that have been awaited: their results count, cached or not. */
  plan(href: string, reload?: Reload, used?: readonly RouteRequest[]): RoutePlan
  /** Ids of the segments with data in the answer's route. */
  idsOf(head: { readonly route?: string | null | undefined } | undefined): readonly string[]
}

/**
 * @param requests in progress.
 * @param asks as in `HydrationState`.
 */
export function createRoutePlanner(
  table: RouteTable,
  known: KnownRoutes,
  requests: ReadonlySet<RouteRequest>,
  asks?: readonly string[],
): RoutePlanner {
  const routes = new Map(table.routes.map((route) => [route.key, route]))

  const routeOf = (head?: { readonly route?: string | null | undefined }) =>
    (head?.route && routes.get(head.route)) as Route | null | undefined
  /** If no route answers, the root's layout is around the fallback. */
  const idsOf = (route: Route | null | undefined, outcome?: RouteDataOutcome): readonly string[] =>
    dataIds(route === null && table.root ? { chain: [table.root], key: '', definition: {} } : route, outcome)

  function plan(href: string, reload: Reload = 'nothing', used: readonly RouteRequest[] = []): RoutePlan {
    const own = used.findLast((request) => request.href === href)
    const match = table.match(pathOf(href))
    // The server has nothing to say about its URLs.
    const isSettled = match?.params && asks?.includes(match.route.key) === false && dataIds(match.route).length === 0
    const entry = isSettled ? undefined : usable(known.answerOf(href), reload)
    const answer = own?.head ?? (entry?.value as RouteAnswer | undefined)
    const route = answer ? routeOf(answer) : match?.route
    const params = (answer ?? match)?.params ?? {}
    const { outcome, status = 200, retryAfterMs } = own ?? {}
    const running = reload === 'all' ? [] : [...requests].filter(({ current }) => current)
    const same = running.find((request) => request.href === href)
    const asksServer = !own && !entry && !same && !isSettled
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
      const cached = usable(known.entry(key), reload)
      const source = used.find((request) => request.segments.has(id) && brings(request))
      // A cached value of equal content is the previous object, so that nothing is rendered again for it.
      const isCached = cached && !(source && cached.receivedAt < source.startedAt)
      let values = isCached ? (cached.value as SegmentValues) : source?.segments.get(id)?.values
      if (!values && own?.over && outcome && own.ids.includes(id)) values = {}
      if (values) {
        if (values.data !== undefined) data[id] = values.data
        if ('search' in values) search = values.search
        keys.push(key)
        stale ||= !source && isStale(cached)
        continue
      }
      const request = running.find(brings)
      if (request) joins.add(request)
      else missing.push(id)
    }
    return {
      own,
      page: {
        kind: 'page',
        route,
        params,
        search,
        data,
        outcome,
        status,
        retryAfterMs,
        size: used.reduce((sum, request) => sum + request.size, 0),
        at: own?.head?.at,
        keys,
        stale,
      },
      redirect: answer?.redirect,
      document: answer?.document ?? route?.kind === 'handler',
      asksServer,
      missing,
      joins,
    }
  }

  function isStale(entry: CacheEntry | undefined): boolean {
    return entry !== undefined && known.stateOf(entry) === 'stale'
  }

  function usable(entry: CacheEntry | undefined, reload: Reload): CacheEntry | undefined {
    return reload === 'all' || (reload === 'stale' && isStale(entry)) ? undefined : entry
  }

  return { plan, idsOf: (head) => idsOf(routeOf(head)) }
}

/**
 * Ids of a route's segments with server data, root first.
 * @param outcome of a fallback, which leaves out the data inside it.
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
