import { dataIds, type RouteParams } from '../react/route-view.ts'
import type { RouteDataOutcome, RouteDataRedirect, SegmentValues } from '../../shared/protocol/route-data.ts'
import type { Route, RouteTable } from '../../shared/route-table.ts'
import { pathOf, type KnownRoutes, type Verdict } from './known-routes.ts'
import { ENTRY_LIFETIME_MS, type CacheEntry } from './route-cache.ts'
import { startFlight, type Flight, type FlightWorld } from './route-flight.ts'
import { RouteCancelled, RouteLoadError } from './router-errors.ts'

/** Brings together what a page needs: what is known, what is under way, and what must be asked for. */
export interface RouteStore {
  /** Requests under way. */
  readonly flights: ReadonlySet<Flight>
  /** What would have to be asked for, if this URL were to be shown now. */
  plan(href: string, anew?: Anew): RoutePlan
  /**
   * Everything that a page needs, but for deferred values.
   * @param href path and query.
   * @throws {RouteLoadError} when a request has failed.
   * @throws {RouteCancelled} when the signal is aborted.
   */
  load(href: string, options: StoreLoadOptions): Promise<LoadedRoute>
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
  /** The route that answers, as far as we know: by an earlier answer, else by the table. */
  readonly route: Route | null | undefined
  readonly params: RouteParams
  /** An earlier answer says that it leads elsewhere. */
  readonly redirect?: RouteDataRedirect
  /** No page: only the browser itself can go there. */
  readonly document: boolean
  /** Whether the server must say what the URL is. */
  readonly asksVerdict: boolean
  /** Ids of segments with data that is neither here nor on its way. */
  readonly missing: readonly string[]
  /** Requests that bring some of the data. */
  readonly joins: readonly Flight[]
  /** Something is older than its lifetime, and is to be asked for again once it is shown. */
  readonly stale: boolean
}

/** A page's data. */
export interface LoadedPage {
  readonly kind: 'page'
  /** `null` where no route answers. */
  readonly route: Route | null
  readonly params: RouteParams
  /** After the page's schema; absent for a page without one. */
  readonly search?: unknown
  /** By segment id. */
  readonly data: Readonly<Record<string, unknown>>
  readonly outcome?: RouteDataOutcome
  /** Of the answer; 200 where none was needed. */
  readonly status: number
  readonly retryAfterMs: number | undefined
  /** Cache keys of what is shown. */
  readonly keys: readonly string[]
  readonly stale: boolean
  /** This page is left: requests that still bring deferred values for it, and for nobody else, are aborted. */
  release(): void
}

/** A page with all it needs, or where to go instead. */
export type LoadedRoute =
  LoadedPage | { readonly kind: 'redirect'; readonly redirect: RouteDataRedirect } | { readonly kind: 'document' }

const MAX_ROUNDS = 5 // an answer may turn out to depend on more of the URL than was known; that ends after a few

/** @param onChange called when a flight begins or ends. */
export function createRouteStore(
  table: RouteTable,
  known: KnownRoutes,
  world: FlightWorld,
  onChange: () => void,
): RouteStore {
  const routes = new Map(table.routes.map((route) => [route.key, route]))
  /** Requests under way, with the cache keys of what they bring. */
  const flights = new Map<Flight, ReadonlySet<string>>()
  /** What a request was made for, and before which revalidation. */
  const purposes = new WeakMap<Flight, { ids: readonly string[]; readonly epoch: number }>()

  function plan(href: string, anew: Anew = 'nothing'): RoutePlan {
    const entry = usable(known.verdict(href), anew)
    const verdict = entry?.value as Verdict | undefined
    const nothing = { route: undefined, params: {}, asksVerdict: false, missing: [], joins: [], stale: false }
    if (verdict?.redirect) return { ...nothing, redirect: verdict.redirect, document: false }
    if (verdict?.document) return { ...nothing, document: true }
    const match = verdict === undefined ? table.match(pathOf(href)) : undefined
    const route = verdict === undefined ? match?.route : (routes.get(verdict.route ?? '') ?? null)
    if (route?.kind === 'handler') return { ...nothing, document: true }

    const params = verdict?.params ?? (match?.error === undefined ? match?.params : undefined) ?? {}
    const missing: string[] = []
    const joins = new Set<Flight>()
    let stale = entry !== undefined && known.isStale(entry)
    for (const id of dataIds(route)) {
      const key = known.keyOf(id, href, params)
      const data = usable(known.entry(key), anew)
      if (data !== undefined) stale ||= known.isStale(data)
      else {
        const flight = anew === 'all' ? undefined : flightFor(key)
        if (flight === undefined) missing.push(id)
        else joins.add(flight)
      }
    }
    const same =
      anew === 'all' ? undefined : [...flights.keys()].find((flight) => flight.href === href && isCurrent(flight))
    if (entry === undefined && same !== undefined) joins.add(same)
    const asksVerdict = entry === undefined && same === undefined
    return { route, params, document: false, asksVerdict, missing, joins: [...joins], stale }
  }

  function usable(entry: CacheEntry | undefined, anew: Anew): CacheEntry | undefined {
    return entry === undefined || anew === 'all' || (anew === 'stale' && known.isStale(entry)) ? undefined : entry
  }

  /** An answer from before a revalidation shows what is not so any more. */
  function isCurrent(flight: Flight): boolean {
    return purposes.get(flight)?.epoch === known.epoch
  }

  function flightFor(key: string): Flight | undefined {
    for (const [flight, keys] of flights) if (keys.has(key) && isCurrent(flight)) return flight
    return undefined
  }

  function start(href: string, { route, params, missing }: RoutePlan, prefetch: boolean, force: boolean): Flight {
    const purpose = { ids: missing, epoch: known.epoch }
    const file = (own: RouteParams): void => {
      flights.set(flight, new Set(purpose.ids.map((id) => known.keyOf(id, href, own))))
    }
    const flight = startFlight({ href, wants: route ? missing : undefined, prefetch, force }, world, {
      expects(head) {
        if (head.route !== route?.key) purpose.ids = dataIds(routes.get(head.route ?? ''))
        file(head.params ?? {})
        return purpose.ids
      },
      received({ segment, uses }) {
        known.noteUses(segment, uses)
        file(flight.head?.params ?? {})
      },
      settled(id, content) {
        const segment = flight.segments.get(id)
        if (segment === undefined || !isCurrent(flight)) return
        known.keepSegment(id, href, known.keyOf(id, href, flight.head?.params ?? {}), { ...segment, ...content })
      },
      over(failed) {
        flights.delete(flight)
        const { head } = flight
        // A refusal or a failure is nothing to keep: it may be over with the next sign-in, or the next try.
        if (failed === undefined && head !== undefined && !flight.outcome && flight.status < 400 && isCurrent(flight)) {
          const lifetimes = [...flight.segments.values()].map(({ lifetime = 0 }) => lifetime * 1000)
          known.keepVerdict(href, head, Math.max(...lifetimes, ENTRY_LIFETIME_MS))
        }
        onChange()
      },
    })
    purposes.set(flight, purpose)
    file(params)
    onChange()
    return flight
  }

  /** The values of a segment: what has been kept, unless this request has brought them and they are newer. */
  function valuesOf(id: string, href: string, params: RouteParams, used: readonly Flight[]): SegmentValues | undefined {
    const key = known.keyOf(id, href, params)
    const entry = known.entry(key)
    for (const flight of used) {
      const segment = flight.segments.get(id)
      if (segment === undefined || known.keyOf(id, flight.href, flight.head?.params ?? {}) !== key) continue
      // Kept values of equal content are the former object, so that nothing is rendered anew for them.
      return entry !== undefined && entry.receivedAt >= flight.startedAt
        ? (entry.value as SegmentValues)
        : segment.values
    }
    return entry?.value as SegmentValues | undefined
  }

  function assemble(href: string, used: readonly Flight[], stale: boolean): Omit<LoadedPage, 'release'> | undefined {
    const own = used.findLast((flight) => flight.href === href)
    const verdict = own?.head ?? (known.verdict(href)?.value as Verdict | undefined)
    if (verdict === undefined) return undefined
    const route = routes.get(verdict.route ?? '') ?? null
    const { params = {} } = verdict
    const outcome = own?.outcome
    const data: Record<string, unknown> = {}
    const keys: string[] = []
    let search: unknown
    const chain = route?.chain.slice(0, outcome === undefined ? undefined : outcome.at + 1).map(({ key }) => key) ?? []
    for (const id of dataIds(route)) {
      const [key = '', kind] = id.split('#')
      if (outcome !== undefined && (kind === 'page' || !chain.includes(key))) continue
      const values =
        valuesOf(id, href, params, used) ?? (own?.complete && purposes.get(own)?.ids.includes(id) ? {} : undefined)
      if (values === undefined) return undefined
      if (values.data !== undefined) data[id] = values.data
      if (kind === 'page') search = values.search
      keys.push(known.keyOf(id, href, params))
    }
    return {
      kind: 'page',
      route,
      params,
      ...(search === undefined ? {} : { search }),
      data,
      ...(outcome === undefined ? {} : { outcome }),
      status: own?.status ?? 200,
      retryAfterMs: own?.retryAfterMs,
      keys,
      stale: stale || !used.every(isCurrent),
    }
  }

  async function load(
    href: string,
    { signal, prefetch = false, anew = 'nothing', whole = false }: StoreLoadOptions,
  ): Promise<LoadedRoute> {
    const used: Flight[] = []
    const leaves: (() => void)[] = []
    const release = (): void => leaves.forEach((leave) => leave())
    try {
      for (let round = 0; round < MAX_ROUNDS; round += 1) {
        signal.throwIfAborted()
        const planned = plan(href, round === 0 ? anew : 'nothing')
        const { redirect, document, asksVerdict, missing, joins, stale } = planned
        if (redirect !== undefined) return { kind: 'redirect', redirect }
        if (document) return { kind: 'document' }
        const here = asksVerdict ? undefined : assemble(href, used, stale)
        if (here !== undefined && missing.length === 0 && joins.every((flight) => used.includes(flight))) {
          return { ...here, release }
        }
        const waits = [...joins]
        if (asksVerdict || missing.length > 0) waits.push(start(href, planned, prefetch, anew !== 'nothing'))
        for (const flight of waits) {
          if (used.includes(flight)) continue
          used.push(flight)
          leaves.push(flight.join())
        }
        await untilAborted(Promise.all(waits.map((flight) => settled(flight, href, whole))), signal)
        const own = used.findLast((flight) => flight.href === href)
        if (own?.head?.redirect) return leaving({ kind: 'redirect', redirect: own.head.redirect })
        if (own?.head?.document) return leaving({ kind: 'document' })
        const page = assemble(href, used, false)
        if (page !== undefined) return { ...page, release }
      }
      throw new RouteLoadError('route data', href)
    } catch (thrown) {
      release()
      throw thrown
    }

    function leaving(loaded: LoadedRoute): LoadedRoute {
      release()
      return loaded
    }
  }

  return {
    get flights() {
      return new Set(flights.keys())
    },
    plan,
    load,
  }
}

/** Others' requests may fail without harm: what they do not bring is asked for in the next round. */
async function settled(flight: Flight, href: string, whole: boolean): Promise<void> {
  if (flight.href !== href) return flight.ready.catch(() => undefined)
  await flight.ready
  if (whole) await flight.over
}

function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new RouteCancelled())
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
