import type { InspectedRouter, RouterInsight } from '../inspect/router-insight.ts'
import type { DevFailure } from './dev-messages.ts'

/** Failures of requests, as the page sees them that has made them, or another one. */
export interface RequestFailures {
  /** Called after hydration, with the page's router. */
  found(insight: RouterInsight, router: Pick<InspectedRouter, 'subscribe'>): void
  /**
   * Shows a failure with its cause in this page. That of a prefetch is kept until its page is opened and shows a fallback:
   * nobody has asked for it, so it does not cover the page on screen.
   */
  add(failure: DevFailure): void
  /** Forgets all that is kept: the sources have changed. */
  clear(): void
}

const MOST_KEPT = 20
const TOLD_WITHIN_MS = 1_000 // of the end of a navigation, until the development server has told of its last request

/** @param now milliseconds since the epoch. */
export function createRequestFailures(
  show: (failure: DevFailure) => void,
  now: () => number = Date.now,
): RequestFailures {
  const state: { insight?: RouterInsight; kept: readonly DevFailure[] } = { kept: [] }

  function showWithCause(failure: DevFailure): void {
    const cause = causeOf(failure, state.insight, now())
    show(cause === undefined ? failure : { ...failure, cause })
  }

  function look(): void {
    const { insight, kept } = state
    if (insight === undefined || kept.length === 0 || !showsFallback(insight)) return
    const path = pathOf(insight.router.screen.href)
    state.kept = kept.filter(({ request }) => request?.url !== path)
    for (const failure of kept) if (failure.request?.url === path) showWithCause(failure)
  }

  return {
    found(insight, router) {
      state.insight = insight
      router.subscribe(look)
      look()
    },
    add(failure) {
      const { request } = failure
      if (request?.prefetch !== true) return showWithCause(failure)
      const others = state.kept.filter(({ request: other }) => other?.id !== request.id)
      state.kept = [...others, failure].slice(-MOST_KEPT)
      look()
    },
    clear() {
      state.kept = []
    },
  }
}

/**
 * The navigation that has asked for what has failed: one click makes several requests, because the router retries.
 * @returns `undefined` if nothing, or something else, has asked for it.
 */
function causeOf({ request }: DevFailure, insight: RouterInsight | undefined, now: number): string | undefined {
  const last = insight?.journal.navigations.at(-1)
  if (request?.method !== 'GET' || last === undefined || pathOf(last.to) !== request.url) return undefined
  return now - (last.endedAt ?? now) > TOLD_WITHIN_MS ? undefined : `navigation ${last.id}`
}

function pathOf(href: string): string {
  return href.split('#')[0] ?? ''
}

/** Whether a fallback is on screen, in place of the page or of a part of it. */
export function showsFallback({ router }: Pick<RouterInsight, 'router'>): boolean {
  const { page, view, fallback } = router.screen
  return page.failure !== undefined || view.outcome?.kind === 'error' || fallback !== undefined
}
