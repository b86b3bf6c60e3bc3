/** A token bucket for reports: a number per second, and a burst after quiet times. Refused ones are counted. */
export interface ReportBudget {
  /** Takes one. @param now milliseconds. @returns whether one was available. */
  take(now: number): boolean
  /** Number of available tokens. */
  left(now: number): number
  /** Number of refusals since the last call. */
  refused(): number
  /** Changes the numbers for the next calls; see `createReportBudget`. */
  change(perSecond: number, most: number): void
}

/**
 * @param perSecond tokens per second.
 * @param most tokens saved for a burst.
 */
export function createReportBudget(perSecond: number, most: number): ReportBudget {
  let rate = { perSecond, most }
  let left = most
  let lastAt = Number.NEGATIVE_INFINITY
  let refused = 0

  function refill(now: number): void {
    left = Math.min(rate.most, left + (Math.max(0, now - lastAt) / 1_000) * rate.perSecond)
    lastAt = now
  }

  return {
    left(now) {
      refill(now)
      return left
    },
    take(now) {
      refill(now)
      if (left < 1) {
        refused += 1
        return false
      }
      left -= 1
      return true
    },
    refused() {
      const count = refused
      refused = 0
      return count
    },
    change(perSecond, most) {
      rate = { perSecond, most }
    },
  }
}
