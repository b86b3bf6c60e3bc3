/** How much may be reported: so many a second, and some more after quiet times. What is beyond it is counted. */
export interface ReportBudget {
  /** Takes one. @param now milliseconds. @returns whether there was one to take. */
  take(now: number): boolean
  /** How many are there to take. */
  left(now: number): number
  /** How many were refused since the last call. */
  refused(): number
  /** From the next one on, other numbers hold; see `createReportBudget`. */
  change(perSecond: number, most: number): void
}

/**
 * @param perSecond how many come in a second.
 * @param most how many are kept for a burst.
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
