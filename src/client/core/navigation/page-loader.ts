import { withBasePath } from '../../../shared/base-path.ts'
import { rawSearch } from '../../../shared/raw-search.ts'
import type { Route, RouteTable } from '../../../shared/route-table.ts'
import { findBoundary } from '../../react/find-boundary.ts'
import { layoutId, type Outcome, type RouteView } from '../../react/route-view.ts'
import { localHref, withoutHash } from '../data/local-href.ts'
import type { Retry } from '../data/retry.ts'
import type { RouteCode } from '../page/route-code.ts'
import type { LoadedPage } from '../data/route-plan.ts'
import type { RouteRequestWorld } from '../data/route-request.ts'
import type { LoadedRoute, RouteStore, StoreLoadOptions } from '../data/route-store.ts'
import { RedirectLoopError, RouteCancelled, RouteLoadError } from '../../react/router-errors.ts'

/** A page that can be shown immediately. */
export interface ReadyPage {
  readonly kind: 'page'
  /** After redirects: path, query and hash. */
  readonly href: string
  readonly view: RouteView
  /** Cache keys of its data. */
  readonly keys: readonly string[]
  /** As in `LoadedPage`. */
  readonly at?: number | undefined
  /** Part of it must be reloaded. */
  readonly stale: boolean
  /** Why its data did not load; the view shows the error boundary then. */
  readonly failure?: unknown
}

/** A target that only the browser itself can load. */
interface ElsewherePage {
  readonly kind: 'document'
  readonly href: string
  /** The failure that forced it, if any. */
  readonly reason?: RouteLoadError | undefined
}

/** Loads pages: data, code and styles concurrently; follows redirects, and retries temporary failures. */
export interface PageLoader {
  /**
   * @param href path, query and hash.
   * @param options its signal aborts the loading, and later the page's deferred values.
   * @throws {RouteCancelled} if the signal is aborted.
   */
  load(href: string, options: StoreLoadOptions): Promise<ReadyPage | ElsewherePage>
}

type PageTable = Pick<RouteTable, 'root'>

/** The purpose of loading a page. */
interface PageRequest {
  readonly href: string
  readonly signal: AbortSignal
  /** Whether the server was asked for its data. */
  readonly isAsked: boolean
}

/** What it is made of. */
interface PageLoaderParts {
  readonly table: PageTable
  readonly store: RouteStore
  readonly code: RouteCode
  /** `https://host` of the page. */
  readonly origin: string
  /** The public origin from the server, for absolute URLs in the head. */
  readonly publicOrigin: string | undefined
  /** Whether the browser reports a network connection. */
  readonly online: () => boolean
  readonly retry: Retry
  readonly world: Pick<RouteRequestWorld, 'fetch'>
}

/** Browsers' own limit; more of them are a loop. */
const MAX_REDIRECTS = 20

export function createPageLoader(parts: PageLoaderParts): PageLoader {
  const { store, code, origin, online } = parts

  /** Retries a temporary failure; returns the final result. */
  async function loadData(href: string, options: StoreLoadOptions): Promise<LoadedRoute> {
    for (let attempt = 0; ; attempt += 1) {
      const loaded = await store.load(href, options).catch((thrown: unknown) => thrown as RouteLoadError)
      const failed = loaded instanceof Error
      const passing = failed ? loaded.passing : loaded.kind === 'page' && loaded.status >= 500
      if (passing && (await parts.retry(attempt, (loaded as LoadedPage).retryAfterMs, options.signal))) continue
      if (failed) throw loaded
      return loaded
    }
  }

  /** Whether the server can be reached. */
  async function reaches(): Promise<boolean> {
    return parts.world.fetch(withBasePath('/_m/build.json'), { cache: 'no-store' }).then(
      () => true,
      () => false,
    )
  }

  /**
   * The page with its code and styles.
   * @param failure that the page shows.
   * @param loading of its code and styles, if already started.
   */
  async function withCode(
    request: PageRequest,
    page: LoadedPage,
    failure?: unknown,
    loading?: Promise<void>,
  ): Promise<ReadyPage | ElsewherePage> {
    const { href, signal } = request
    const { keys, at, stale } = page
    const view = viewOf(parts, page, href)
    try {
      await (loading ?? code.load(view, signal))
    } catch (thrown) {
      return afterFailure(request, thrown, failure)
    }
    return { kind: 'page', href, view, keys, at, stale, failure }
  }

  /**
   * The replacement for a page that does not load: without a network, a document would not load either.
   * @param former set if its error page does not load.
   */
  async function afterFailure(
    request: PageRequest,
    thrown: unknown,
    former?: unknown,
  ): Promise<ReadyPage | ElsewherePage> {
    const { href, signal } = request
    if (signal.aborted) throw new RouteCancelled()
    const reason = thrown instanceof RouteLoadError ? thrown : undefined
    const isShown = reason
      ? reason.passing || !online() || (!request.isAsked && !(await reaches()))
      : thrown instanceof RedirectLoopError
    const page = isShown && !former ? failedPage(parts, href, thrown) : undefined
    return page ? withCode(request, page, thrown) : { kind: 'document', href, reason }
  }

  return {
    async load(first, options) {
      const { signal } = options
      let href = first
      for (let hops = 0; ; hops += 1) {
        const { pathname, search, hash } = new URL(href, origin)
        const path = pathname + search
        const { page, asksServer, missing, joins } = store.plan(path)
        const { route } = page
        const request = { href, signal, isAsked: asksServer || missing.length + joins.size > 0 }
        const guessed = route ? code.load({ chain: route.chain }, signal) : undefined
        const loading = loadData(path, options)
        let loaded: LoadedRoute
        try {
          loaded = await Promise.race([loading, (guessed ?? loading).then(() => loading)])
        } catch (thrown) {
          // If the data fails too, the server is unreachable, and a document would fail as well.
          return afterFailure(request, (online() && (await failureOf(loading))) || thrown)
        }
        if (loaded.kind === 'document') return { kind: 'document', href }
        if (loaded.kind === 'page') {
          if (!isKnown(parts.table, loaded)) return afterFailure(request, new RouteLoadError('route data', path))
          const isGuessed = loaded.route === route && !loaded.outcome
          return withCode(request, loaded, undefined, isGuessed ? guessed : undefined)
        }
        const { to, external } = loaded.redirect
        if (external) return { kind: 'document', href: to }
        if (hops === MAX_REDIRECTS) return afterFailure(request, new RedirectLoopError(first))
        const target = localHref(to, origin) ?? path
        // As in browsers: a redirect keeps the fragment of its URL, unless the target has one.
        href = target.includes('#') ? target : target + hash
      }
    },
  }
}

function chainOf({ root }: PageTable, route: Route | null | undefined): RouteView['chain'] {
  return route?.chain ?? (root ? [root] : [])
}

/** Whether this table has the answer's route; if not, no other page must be shown instead. */
function isKnown(table: PageTable, { route, outcome }: LoadedPage): boolean {
  if (!outcome) return !!route
  return route !== undefined && !!chainOf(table, route)[outcome.at]?.definition[outcome.kind]
}

/**
 * The innermost error boundary whose layouts have their data; if there is none, only a document load can show the
 * failure.
 */
function failedPage({ table, store }: PageLoaderParts, href: string, thrown: unknown): LoadedPage | undefined {
  const { page } = store.plan(withoutHash(href))
  const chain = chainOf(table, page.route)
  const bare = chain.findIndex(({ key, definition }) => definition.layoutLoader && !(layoutId(key) in page.data))
  const at = findBoundary(chain, 'error', bare < 0 ? chain.length : bare - 1)
  if (at === undefined) return undefined
  const { status = 0, reason = 'server' } = thrown as Partial<RouteLoadError>
  return { ...page, stale: false, outcome: { kind: 'error', at, origin: 'client', status, reason } as Outcome }
}

function viewOf({ table, origin, publicOrigin }: PageLoaderParts, page: LoadedPage, href: string): RouteView {
  const { route, params, data, status } = page
  const location = new URL(href, origin)
  return {
    chain: chainOf(table, route),
    params,
    search: page.search ?? rawSearch(location.searchParams),
    data,
    location,
    // 500 is the default of error pages.
    outcome: page.outcome && (status > 500 ? { status, ...page.outcome } : page.outcome),
    origin: publicOrigin,
  }
}

/** The error of the work, if it fails. */
function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
}
