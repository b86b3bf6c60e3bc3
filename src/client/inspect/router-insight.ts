import type { Journal } from '../core/data/journal.ts'
import type { KnownRoutes } from '../core/data/known-routes.ts'
import type { Prefetcher } from '../core/prefetch/prefetcher.ts'
import type { RouteStore } from '../core/data/route-store.ts'
import type { RouterCore } from '../core/navigation/router.ts'
import type { BoundaryRouter, Router } from '../react/router-types.ts'

/** Read access to the parts of the client router. */
export interface RouterInsight {
  /** @internal */
  readonly router: RouterCore
  /** @internal */
  readonly known: KnownRoutes
  /** @internal */
  readonly store: RouteStore
  /** @internal */
  readonly prefetcher: Prefetcher
  /** @internal */
  readonly journal: Journal
  /** Calls back after each change of the parts. */
  subscribe(listener: () => void): () => void
}

/** A router that can be inspected. Separate from `Router`, which the server's compiler sees without DOM types. */
export interface InspectedRouter extends Router, Pick<BoundaryRouter, 'leaving'> {
  /** Set once, when the parts are created. */
  insight?: RouterInsight
}
