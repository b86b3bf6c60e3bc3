/**
 * Failures of route data that the client router has met and asks for again: it does so up to three times, within one
 * trace, and all of that is one failure to its visitor. Bound: 1,000 failures, the oldest go first. Lifetime: half a minute
 * from the first of them, the longest that a browser waits before it asks again.
 */
export interface RetriedFailures {
  /**
   * Takes note of a failure.
   * @param now milliseconds.
   * @returns whether the same was met in the same trace a moment ago.
   */
  isKnown(traceId: string, digest: string, now: number): boolean
}

const LIFETIME_MS = 30_000
const MOST_FAILURES = 1_000

/** Nothing has failed yet. */
export function createRetriedFailures(): RetriedFailures {
  /** When each was met first. */
  const met = new Map<string, number>()
  return {
    isKnown(traceId, digest, now) {
      const key = `${traceId} ${digest}`
      const metAt = met.get(key)
      if (metAt !== undefined && now - metAt < LIFETIME_MS) return true
      met.delete(key)
      if (met.size >= MOST_FAILURES) met.delete(met.keys().next().value ?? '')
      met.set(key, now)
      return false
    },
  }
}
