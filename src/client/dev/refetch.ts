import type { RouterInsight } from '../inspect/router-insight.ts'
import { showsFallback } from './request-failures.ts'

/** Fetches the data of the page on screen again, after the server has changed. */
export interface Refetch {
  /** Called after hydration, with the page's router. */
  found(insight: RouterInsight): void
  /**
   * State, scroll position and what was typed stay. Without a router the document is loaded again.
   * @returns whether the page is rendered again as a whole, in place of a fallback.
   */
  refetch(): boolean
  /**
   * Renders the page in place of a fallback that one of its boundaries shows, after its code has changed. React Refresh
   * resets the boundary, but the document would keep the fallback's title and `noindex`.
   */
  recover(): void
}

/** Everything that the router holds; see `matchesTarget`. */
const ALL = ['/*']

/** @param reload loads the document again. */
export function createRefetch(reload: () => void): Refetch {
  const state: { insight?: RouterInsight } = {}
  return {
    found(insight) {
      state.insight = insight
    },
    refetch() {
      const router = state.insight?.router
      if (router === undefined) {
        reload()
        return false
      }
      const isFailed = showsFallback({ router })
      router.forget(ALL)
      // New data alone does not reset an error boundary.
      if (isFailed) router.refresh()
      return isFailed
    },
    recover() {
      const router = state.insight?.router
      if (router?.screen.fallback !== undefined) router.refresh()
    },
  }
}
