import type { RouterInsight } from '../inspect/router-insight.ts'

/** Fetches the data of the page on screen again, after the server has changed. */
export interface Refetch {
  /** Called after hydration, with the page's router. */
  found(insight: RouterInsight): void
  /** State, scroll position and what was typed stay. Without a router the document is loaded again. */
  refetch(): void
}

/** Everything that the router holds; see `matchesTarget`. */
const ALL = ['/*']

export function createRefetch(reload: () => void = () => location.reload()): Refetch {
  const state: { insight?: RouterInsight } = {}
  return {
    found(insight) {
      state.insight = insight
    },
    refetch() {
      const router = state.insight?.router
      if (router === undefined) return reload()
      const { page, view } = router.screen
      const shownError = page.failure !== undefined || view.outcome?.kind === 'error'
      router.forget(ALL)
      // In place of an error page the whole page is rendered.
      if (shownError) router.refresh()
    },
  }
}
