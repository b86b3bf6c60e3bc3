/**
 * Failures of route data that the client router retries: it does so up to three times within one trace, and the visitor
 * sees one failure. Bound: 1,000 failures, the oldest go first. Lifetime: half a minute from the first of them, the
 * longest that a browser waits before a retry.
 */
interface RetriedFailures {
  /**
   * Records a failure.
   * @param now milliseconds.
   * @returns whether the same failure was recorded in the same trace a moment ago.
   */
  isKnown(traceId: string, digest: string, now: number): boolean
}

const LIFETIME_MS = 30_000
const MOST_FAILURES = 1_000

/** Starts empty. */
export function createRetriedFailures(): RetriedFailures {
  /** Time of the first occurrence. */
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
