import type { Journal } from './core/journal.ts'
import type { KnownRoutes } from './core/known-routes.ts'
import type { Prefetcher } from './core/prefetcher.ts'
import type { RouteStore } from './core/route-store.ts'
import type { RouterCore } from './core/router.ts'
import type { Router } from './router-types.ts'

/** The parts of the client router, for those who look at it and change nothing. */
export interface RouterInsight {
  readonly router: RouterCore
  readonly known: KnownRoutes
  readonly store: RouteStore
  readonly prefetcher: Prefetcher
  readonly journal: Journal
  /** Calls back when anything in them has changed. */
  subscribe(listener: () => void): () => void
}

/** A router that lets itself be looked at. Apart from `Router`, which the server's compiler sees and which has no DOM. */
export interface InspectedRouter extends Router {
  /** Set once, where the parts are put together. */
  insight?: RouterInsight
}
