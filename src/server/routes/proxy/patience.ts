/** A timeout that runs only while the other side must act. */
interface Patience {
  /** Restarts the time after some progress. */
  readonly renew: () => void
  /** Stops the timeout. */
  readonly stop: () => void
}

/**
 * Starts the timeout.
 * @param timeoutMs in ms, since the start or the last `renew`.
 * @param isOwed whether it is the other side's turn; called when the time is over, which restarts if not.
 * @param expire called at most once.
 */
export function createPatience(timeoutMs: number, isOwed: () => boolean, expire: () => void): Patience {
  let over = false
  const timer = setTimeout(() => {
    if (!isOwed()) return void timer.refresh()
    over = true
    expire()
  }, timeoutMs)
  return {
    renew() {
      // `refresh` would restart a timer that has been stopped or has run out.
      if (!over) timer.refresh()
    },
    stop() {
      over = true
      clearTimeout(timer)
    },
  }
}
