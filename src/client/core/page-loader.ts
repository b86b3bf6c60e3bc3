import { rawSearch } from '../../shared/raw-search.ts'
import { safeLocation } from '../../shared/safe-location.ts'
import type { Route, RouteTable } from '../../shared/route-table.ts'
import { findBoundary, layoutId, type Outcome, type RouteView } from '../react/route-view.ts'
import type { KnownRoutes } from './known-routes.ts'
import { retryDelay } from './retry.ts'
import type { RouteCode } from './route-code.ts'
import type { Anew, LoadedPage, LoadedRoute, RouteStore } from './route-store.ts'
import { RedirectLoopError, RouteCancelled, RouteLoadError } from './router-errors.ts'

/** A page that can be shown at once. */
export interface ReadyPage {
  readonly kind: 'page'
  /** Where redirects have led: path, query and hash. */
  readonly href: string
  readonly view: RouteView
  /** Stylesheets of the view. */
  readonly styles: readonly string[]
  /** Cache keys of its data. */
  readonly keys: readonly string[]
  /** Something of it is to be asked for again. */
  readonly stale: boolean
  /** Why its data did not come; the view shows the error boundary then. */
  readonly failure?: unknown
  release(): void
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
   * @throws {RouteCancelled} when the signal is aborted.
   */
  load(href: string, options: PageLoadOptions): Promise<ReadyPage | ElsewherePage>
  /** Path, query and hash of a redirect's target; `undefined` where it leads to another site. */
  localHref(to: string, from: string): string | undefined
}

/** How a page is loaded. */
export interface PageLoadOptions {
  readonly signal: AbortSignal
  readonly anew?: Anew
  /** Wait for deferred values as well. */
  readonly whole?: boolean
}

/** What it is made of. */
export interface PageLoaderParts {
  readonly table: RouteTable
  readonly known: KnownRoutes
  readonly store: RouteStore
  readonly code: RouteCode
  /** `https://host` of the page. */
  readonly origin: string
  /** The public origin as the server told it, for absolute URLs in the head. */
  readonly publicOrigin: string | undefined
  readonly random: () => number
  /** Resolves after these milliseconds, and before that when the network comes back or the signal is aborted. */
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>
}

/** As browsers do; more of them lead to each other. */
const MAX_REDIRECTS = 20

export function createPageLoader(parts: PageLoaderParts): PageLoader {
  const { table, known, store, code, origin, publicOrigin, random, wait } = parts
  const rootChain = table.root === undefined ? [] : [table.root]

  async function loadData(href: string, options: PageLoadOptions): Promise<LoadedRoute> {
    for (let attempt = 0; ; attempt += 1) {
      let delay: number | undefined
      try {
        const loaded = await store.load(href, options)
        if (loaded.kind !== 'page' || loaded.status < 500) return loaded
        delay = retryDelay(attempt, loaded.retryAfterMs, random())
        if (delay === undefined) return loaded
        loaded.release()
      } catch (thrown) {
        if (!(thrown instanceof RouteLoadError) || !thrown.passing) throw thrown
        delay = retryDelay(attempt, thrown.retryAfterMs, random())
        if (delay === undefined) throw thrown
      }
      await pause(delay, options.signal)
    }
  }

  async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
    await wait(milliseconds, signal)
    if (signal.aborted) throw new RouteCancelled()
  }

  function viewOf({ route, params, search, data, outcome }: Omit<LoadedPage, 'release'>, url: URL): RouteView {
    return {
      chain: route?.chain ?? rootChain,
      params,
      search: search ?? rawSearch(url.searchParams),
      data,
      ...(outcome === undefined ? {} : { outcome }),
      ...(publicOrigin === undefined ? {} : { origin: publicOrigin }),
    }
  }

  /** The innermost error boundary whose layouts have their data; none: only a document load can say what is wrong. */
  function failedPage(
    href: string,
    route: Route | null | undefined,
    url: URL,
  ): Omit<LoadedPage, 'release'> | undefined {
    const chain = route?.chain ?? rootChain
    const { params } = store.plan(href)
    const data: Record<string, unknown> = {}
    const keys: string[] = []
    let reach = -1
    for (const { key, definition } of chain) {
      const id = layoutId(key)
      if (definition.layoutLoader !== undefined) {
        const cacheKey = known.keyOf(id, href, params)
        const entry = known.entry(cacheKey)
        if (entry === undefined) break
        data[id] = (entry.value as { data?: unknown }).data
        keys.push(cacheKey)
      }
      reach += 1
    }
    const at = findBoundary(chain, 'error', reach)
    if (at === undefined) return undefined
    const outcome: Outcome = { kind: 'error', at, origin: 'client' }
    const search = rawSearch(url.searchParams)
    return {
      kind: 'page',
      route: route ?? null,
      params,
      search,
      data,
      outcome,
      keys,
      status: 0,
      retryAfterMs: undefined,
      stale: false,
    }
  }

  function localHref(to: string, from: string): string | undefined {
    if (safeLocation(to) === undefined) return undefined
    const { pathname, search, hash } = new URL(to, origin + from)
    return pathname + search + hash
  }

  return {
    localHref,
    async load(first, options) {
      const { signal } = options
      let href = first
      for (let hops = 0; ; hops += 1) {
        const url = new URL(href, origin)
        const path = url.pathname + url.search
        const { route } = store.plan(path)
        const guessed = route ? code.load({ chain: route.chain }, signal) : undefined
        guessed?.catch(() => undefined)
        let page: Omit<LoadedPage, 'release'> & { release?(): void }
        let failure: unknown
        try {
          const loaded = await Promise.race([loadData(path, options), rejection(guessed)])
          if (loaded.kind === 'document') return { kind: 'document', href }
          if (loaded.kind === 'redirect') {
            const { to, external } = loaded.redirect
            if (external) return { kind: 'document', href: to }
            if (hops === MAX_REDIRECTS) throw new RedirectLoopError(first)
            href = withHash(localHref(to, path) ?? path, url.hash)
            continue
          }
          page = loaded
        } catch (thrown) {
          if (signal.aborted || thrown instanceof RouteCancelled) throw new RouteCancelled()
          const passing = thrown instanceof RedirectLoopError || (thrown instanceof RouteLoadError && thrown.passing)
          const failed = passing ? failedPage(path, route, url) : undefined
          if (failed === undefined)
            return { kind: 'document', href, ...(thrown instanceof RouteLoadError ? { reason: thrown } : {}) }
          page = failed
          failure = thrown
        }
        const view = viewOf(page, url)
        try {
          const asGuessed = guessed !== undefined && page.route === route && page.outcome === undefined
          const styles = await (asGuessed ? guessed : code.load(view, signal))
          return {
            kind: 'page',
            href,
            view,
            styles,
            keys: page.keys,
            stale: page.stale,
            ...(failure === undefined ? {} : { failure }),
            release: () => page.release?.(),
          }
        } catch (thrown) {
          page.release?.()
          if (signal.aborted || !(thrown instanceof RouteLoadError)) throw new RouteCancelled()
          return { kind: 'document', href, reason: thrown }
        }
      }
    },
  }
}

/** A redirect keeps the fragment of the URL that led to it, unless it brings its own; as browsers do. */
function withHash(href: string, hash: string): string {
  return href.includes('#') ? href : href + hash
}

/** Fails with the work, and never ends with it. */
function rejection(work: Promise<unknown> | undefined): Promise<never> {
  return new Promise((_, reject) => {
    work?.catch(reject)
  })
}
