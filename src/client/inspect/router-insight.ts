import type { Journal } from '../core/data/journal.ts'
import type { KnownRoutes } from '../core/data/known-routes.ts'
import type { Prefetcher } from '../core/prefetch/prefetcher.ts'
import type { RouteStore } from '../core/data/route-store.ts'
import type { RouterCore } from '../core/navigation/router.ts'
import type { Router } from '../react/router-types.ts'

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
