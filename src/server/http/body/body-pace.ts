import { MIN_BYTES_PER_SECOND, RATE_GRACE_MS } from './body-limits.ts'

/** Whether a body comes fast enough. */
export interface BodyPace {
  /** Counts time for which the sender was waited for, in milliseconds. */
  wait(milliseconds: number): void
  /** Counts bytes. @returns whether the sender is too slow. */
  isTooSlow(bytes: number): boolean
}

/**
 * Starts with `RATE_GRACE_MS` of time, and never has more: bytes that came at once would otherwise buy a quarter of an hour
 * for the last one, and hold their memory until then.
 */
export function createBodyPace(): BodyPace {
  let leftMs = RATE_GRACE_MS
  return {
    wait(milliseconds) {
      leftMs -= milliseconds
    },
    isTooSlow(bytes) {
      leftMs = Math.min(RATE_GRACE_MS, leftMs + (bytes / MIN_BYTES_PER_SECOND) * 1_000)
      return leftMs < 0
    },
  }
}
