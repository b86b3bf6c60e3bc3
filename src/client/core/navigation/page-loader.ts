import { rawSearch } from '../../../shared/raw-search.ts'
import type { Route, RouteTable } from '../../../shared/route-table.ts'
import { findBoundary } from '../../react/find-boundary.ts'
import { layoutId, type Outcome, type RouteView } from '../../react/route-view.ts'
import { localHref, withoutHash } from '../data/local-href.ts'
import type { Retry } from '../data/retry.ts'
import type { RouteCode } from '../page/route-code.ts'
import type { LoadedPage, LoadedRoute, RouteStore, StoreLoadOptions } from '../data/route-store.ts'
import { RedirectLoopError, RouteCancelled, RouteLoadError } from '../../react/router-errors.ts'

/** A page that can be shown at once. */
export interface ReadyPage {
  readonly kind: 'page'
  /** Where redirects have led: path, query and hash. */
  readonly href: string
  readonly view: RouteView
  /** Cache keys of its data. */
  readonly keys: readonly string[]
  /** Something of it is to be asked for again. */
  readonly stale: boolean
  /** Why its data did not come; the view shows the error boundary then. */
  readonly failure?: unknown
}

/** Where only the browser itself can go. */
export interface ElsewherePage {
  readonly kind: 'document'
  readonly href: string
  /** What has forced it, if it was a failure. */
  readonly reason?: RouteLoadError
}

/** Loads pages: data, code and styles at once, redirects followed, passing failures tried again. */
export interface PageLoader {
  /**
   * @param href path, query and hash.
   * @param options its signal ends the loading, and later what is still on its way for the page.
   * @throws {RouteCancelled} when the signal is aborted.
   */
  load(href: string, options: StoreLoadOptions): Promise<ReadyPage | ElsewherePage>
}

/** What it is made of. */
export interface PageLoaderParts {
  readonly table: Pick<RouteTable, 'root'>
  readonly store: RouteStore
  readonly code: RouteCode
  /** `https://host` of the page. */
  readonly origin: string
  /** The public origin as the server told it, for absolute URLs in the head. */
  readonly publicOrigin: string | undefined
  /** Whether there is a network, as far as the browser knows. */
  readonly online: () => boolean
  readonly retry: Retry
}

/** As browsers do; more of them lead to each other. */
const MAX_REDIRECTS = 20

export function createPageLoader(parts: PageLoaderParts): PageLoader {
  const { table, store, code, origin, publicOrigin, online, retry } = parts

  /** A failure that may pass is tried again; what it is in the end is given back. */
  async function loadData(href: string, options: StoreLoadOptions): Promise<LoadedRoute> {
    for (let attempt = 0; ; attempt += 1) {
      const loaded = await store.load(href, options).catch((thrown: unknown) => thrown as RouteLoadError)
      const failed = loaded instanceof Error
      const passing = failed ? loaded.passing : loaded.kind === 'page' && loaded.status >= 500
      if (passing && (await retry(attempt, (loaded as LoadedPage).retryAfterMs, options.signal))) continue
      if (failed) throw loaded
      return loaded
    }
  }

  function chainOf(route: Route | null | undefined): RouteView['chain'] {
    return route?.chain ?? (table.root ? [table.root] : [])
  }

  /** What an answer names may be nothing that this table has; another page must not be shown in its place. */
  function isKnown({ route, outcome }: LoadedPage): boolean {
    if (!outcome) return !!route
    return route !== undefined && !!chainOf(route)[outcome.at]?.definition[outcome.kind]
  }

  /** The innermost error boundary whose layouts have their data; none: only a document load can say what is wrong. */
  function failedPage(href: string, thrown: unknown): LoadedPage | undefined {
    const { page } = store.plan(withoutHash(href))
    const chain = chainOf(page.route)
    const bare = chain.findIndex(({ key, definition }) => definition.layoutLoader && !(layoutId(key) in page.data))
    const at = findBoundary(chain, 'error', bare < 0 ? chain.length : bare - 1)
    if (at === undefined) return undefined
    const { status = 0, reason = 'server' } = thrown as Partial<RouteLoadError>
    const outcome: Outcome = { kind: 'error', at, origin: 'client', status, reason }
    return { ...page, stale: false, outcome }
  }

  /** What is shown instead of a page that did not come: without a network, a document would not come either. */
  function pageInstead(href: string, thrown: unknown): LoadedPage | undefined {
    const isPassing = thrown instanceof RouteLoadError && (thrown.passing || !online())
    return isPassing || thrown instanceof RedirectLoopError ? failedPage(href, thrown) : undefined
  }

  function viewOf(page: LoadedPage, href: string): RouteView {
    const { params, data, status } = page
    // 500 is what an error page is told in any case.
    const outcome = page.outcome && (status > 500 ? { status, ...page.outcome } : page.outcome)
    return {
      chain: chainOf(page.route),
      params,
      search: page.search ?? rawSearch(new URL(href, origin).searchParams),
      data,
      outcome,
      origin: publicOrigin,
    }
  }

  /**
   * The page with its code and styles; what is shown instead where those do not come, and the document where that has none
   * either.
   * @param page absent where nothing can be shown for the failure.
   * @param loading of its code and styles, where that has begun already.
   */
  async function withCode(
    href: string,
    signal: AbortSignal,
    page: LoadedPage | undefined,
    failure?: unknown,
    loading?: Promise<void>,
  ): Promise<ReadyPage | ElsewherePage> {
    try {
      if (!page) throw failure
      const view = viewOf(page, href)
      const { keys, stale } = page
      await (loading ?? code.load(view, signal))
      return { kind: 'page', href, view, keys, stale, failure }
    } catch (thrown) {
      if (signal.aborted) throw new RouteCancelled()
      const instead = failure ? undefined : pageInstead(href, thrown)
      if (instead) return withCode(href, signal, instead, thrown)
      return { kind: 'document', href, ...(thrown instanceof RouteLoadError && { reason: thrown }) }
    }
  }

  return {
    async load(first, options) {
      const { signal } = options
      let href = first
      for (let hops = 0; ; hops += 1) {
        const { pathname, search, hash } = new URL(href, origin)
        const path = pathname + search
        const { route } = store.plan(path).page
        const guessed = route ? code.load({ chain: route.chain }, signal) : undefined
        const instead = (failure: unknown) => withCode(href, signal, pageInstead(href, failure), failure)
        const loading = loadData(path, options)
        let loaded: LoadedRoute
        try {
          loaded = await Promise.race([loading, rejection(guessed)])
        } catch (thrown) {
          // Where the data does not come either nobody is there, and a document would not come.
          return instead((online() && (await failureOf(loading))) || thrown)
        }
        if (loaded.kind === 'document') return { kind: 'document', href }
        if (loaded.kind === 'page') {
          if (!isKnown(loaded)) return instead(new RouteLoadError('route data', path))
          const isGuessed = loaded.route === route && !loaded.outcome
          return withCode(href, signal, loaded, undefined, isGuessed ? guessed : undefined)
        }
        const { to, external } = loaded.redirect
        if (external) return { kind: 'document', href: to }
        if (hops === MAX_REDIRECTS) return instead(new RedirectLoopError(first))
        const target = localHref(to, origin) ?? path
        // As browsers do: a redirect keeps the fragment of the URL that led to it, unless it brings its own.
        href = target.includes('#') ? target : target + hash
      }
    },
  }
}

/** What the work fails with, if it does. */
function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
}

/** Fails with the work, and never ends with it. */
function rejection(work: Promise<unknown> | undefined): Promise<never> {
  return new Promise((_, reject) => {
    work?.catch(reject)
  })
}
