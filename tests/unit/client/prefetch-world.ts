import {
  advancePrefetching,
  NO_PREFETCHES,
  reducePrefetching,
  type Prefetching,
  type PrefetchEvent,
  type PrefetchPriority,
} from '../../../src/client/core/prefetch/prefetch-scheduler.ts'

export const NOW = 1000

/** A runner without network: the state, and what it is told. Data sizes are by target, one segment unless set. */
export function scheduler(segments: Readonly<Record<string, number>> = {}) {
  const owner = { state: NO_PREFETCHES, now: NOW }
  const dispatch = (event: PrefetchEvent) => {
    owner.state = reducePrefetching(owner.state, event)
  }
  return {
    owner,
    dispatch,
    add: (target: string, priority: PrefetchPriority = 'viewport') =>
      dispatch({ type: 'add', target, priority, now: owner.now }),
    settle: (target: string, failed = false, cost = 0) =>
      dispatch({ type: 'settle', target, now: owner.now, failed, cost }),
    advance() {
      owner.state = advancePrefetching(owner.state, owner.now, (target) => segments[target] ?? 1)
      return phases(owner.state)
    },
  }
}

/** `a:queued`, `b:fetching 2`, `c:fetching 1 extra`, in the order in which they came. */
export function phases({ jobs }: Prefetching): string[] {
  return [...jobs.values()].map(({ target, phase, segments, extra }) =>
    [`${target}:${phase}`, ...(segments > 0 ? [segments] : []), ...(extra ? ['extra'] : [])].join(' '),
  )
}

export function inPhase({ jobs }: Prefetching, phase: string): string[] {
  return [...jobs.values()].filter((job) => job.phase === phase).map((job) => job.target)
}
