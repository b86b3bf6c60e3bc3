import { useContext, useMemo, useSyncExternalStore } from 'react'
import { RouterContext } from '../react/contexts.ts'
import type { InspectedRouter, RouterInsight } from '../router-insight.ts'

/** The version on the server and while hydrating. */
const NOT_YET = -1

/**
 * The parts of the client router; the component is rendered again whenever something in them has changed. They are
 * changed in place, so read them while rendering and do not memoise by them.
 * @returns `undefined` on the server and while hydrating.
 */
export function useInsight(): RouterInsight | undefined {
  const insight = (useContext(RouterContext) as InspectedRouter | null)?.insight
  const changes = useMemo(() => countChanges(insight), [insight])
  const version = useSyncExternalStore(changes.subscribe, changes.count, () => NOT_YET)
  return version === NOT_YET ? undefined : insight
}

/** The parts stay the same objects: what React compares is how often they have changed. */
function countChanges(insight: RouterInsight | undefined) {
  let count = 0
  return {
    count: () => count,
    subscribe(listener: () => void): () => void {
      // What came between rendering and listening, such as the commit of this very page, was heard by nobody.
      count += 1
      const hear = (): void => {
        count += 1
        listener()
      }
      return insight?.subscribe(hear) ?? (() => undefined)
    },
  }
}
