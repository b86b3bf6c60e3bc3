import { useContext, useMemo, useSyncExternalStore } from 'react'
import { RouterContext } from '../react/contexts.ts'
import type { InspectedRouter, RouterInsight } from './router-insight.ts'

/** The version on the server and while hydrating. */
const NOT_YET = -1

/**
 * The parts of the client router; the component re-renders after each change. The parts are mutable: read them while
 * rendering, and do not memoise by them.
 * @returns `undefined` on the server and while hydrating.
 */
export function useInsight(): RouterInsight | undefined {
  const router = useContext(RouterContext) as InspectedRouter | null
  const changes = useMemo(() => countChanges(router), [router])
  const version = useSyncExternalStore(changes.subscribe, changes.count, () => NOT_YET)
  return version === NOT_YET ? undefined : router?.insight
}

/** The parts stay the same objects: React compares the number of changes. */
function countChanges(router: InspectedRouter | null) {
  let count = 0
  return {
    count: () => count,
    subscribe(listener: () => void): () => void {
      let unsubscribe: (() => void) | undefined
      // The parts exist once the router has loaded, which it reports.
      const hear = (): void => {
        unsubscribe ??= router?.insight?.subscribe(hear)
        count += 1
        listener()
      }
      const ends = router?.subscribe(hear)
      unsubscribe = router?.insight?.subscribe(hear)
      // Nobody received changes between rendering and subscribing, such as the commit of this page.
      count += 1
      return () => {
        ends?.()
        unsubscribe?.()
      }
    },
  }
}
