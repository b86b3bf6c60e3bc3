/** A time-out that counts only while the other side is the one to act. */
export interface Patience {
  /** Something has happened: the time begins again. */
  readonly renew: () => void
  /** No more waiting. */
  readonly stop: () => void
}

/**
 * Starts to wait.
 * @param timeoutMs in ms, since the start or the last `renew`.
 * @param isOwed whether it is the other side's turn; asked when the time is up, and if not it begins again.
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
      // Refreshing would start a timer again that has been stopped or has run out.
      if (!over) timer.refresh()
    },
    stop() {
      over = true
      clearTimeout(timer)
    },
  }
}
