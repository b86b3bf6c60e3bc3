import type { InspectedRouter, RouterInsight } from '../inspect/router-insight.ts'
import type { DevFailure } from './dev-messages.ts'

/** Failed requests, as seen by the page that made them, or by another page. */
interface RequestFailures {
  /** Called after hydration, with the page's router. */
  found(insight: RouterInsight, router: Pick<InspectedRouter, 'subscribe'>): void
  /**
   * Shows a failure with its cause in this page. That of a prefetch is kept until its page is opened and shows a fallback:
   * nobody has asked for it, so it does not cover the page on screen.
   */
  add(failure: DevFailure): void
  /** The sources have changed: forgets all that is kept. What the page on screen asks for next has this cause. */
  changed(): void
}

const MOST_KEPT = 20
const TOLD_WITHIN_MS = 1_000 // of the end of a navigation, until the development server has told of its last request
const REFETCHED_WITHIN_MS = 10_000 // of a save, with all retries

/** @param now milliseconds since the epoch. */
export function createRequestFailures(
  show: (failure: DevFailure) => void,
  now: () => number = Date.now,
): RequestFailures {
  const state: { insight?: RouterInsight; kept: readonly DevFailure[]; changedAt: number } = {
    kept: [],
    changedAt: -Infinity,
  }

  function showWithCause(failure: DevFailure): void {
    const cause = state.insight && causeOf(failure, state.insight, state.changedAt, now())
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
    changed() {
      state.kept = []
      state.changedAt = now()
    },
  }
}

/**
 * The navigation that has asked for what has failed, or the save: one makes several requests, because the router retries.
 * @returns `undefined` if nothing, or something else, has asked for it.
 */
function causeOf(
  { request }: DevFailure,
  { journal, router }: Pick<RouterInsight, 'journal' | 'router'>,
  changedAt: number,
  now: number,
): string | undefined {
  if (request?.method !== 'GET') return undefined
  const last = journal.navigations.at(-1)
  if (last !== undefined && pathOf(last.to) === request.url && now - (last.endedAt ?? now) <= TOLD_WITHIN_MS) {
    return `navigation ${last.id}`
  }
  const isRefetched = pathOf(router.screen.href) === request.url && now - changedAt <= REFETCHED_WITHIN_MS
  return isRefetched ? `change ${changedAt}` : undefined
}

function pathOf(href: string): string {
  return href.split('#')[0] ?? ''
}

/** Whether a fallback is on screen, in place of the page or of a part of it. */
export function showsFallback({ router }: Pick<RouterInsight, 'router'>): boolean {
  const { page, view, fallback } = router.screen
  return page.failure !== undefined || view.outcome?.kind === 'error' || fallback !== undefined
}
