/**
 * Rate limits by the generic cell rate algorithm (ITU-T I.371). A key stores the moment at which all its points are
 * back: that many calls may come at once, and one more for each point that returns, without a window at whose edge
 * twice as many pass. Moments are whole microseconds, which add up without rounding errors.
 */
const MICROS = 1_000 // per millisecond

/** How often something may be done. */
export interface RateLimit {
  /** Uses that are allowed in `seconds`. */
  readonly points: number
  /** Length of the window. */
  readonly seconds: number
}

/** Whether it may be done again. */
export interface RateLimitResult {
  /** Whether this use is within the limit. */
  readonly allowed: boolean
  /** 0 if allowed. */
  readonly retryAfterSeconds: number
}

/** A limit in whole microseconds. */
export interface RateCells {
  /** Time until all points are back. */
  readonly window: number
  /** Time until one point is back. */
  readonly interval: number
}

/** @throws {RangeError} for an invalid limit. */
export function rateCells({ points, seconds }: RateLimit): RateCells {
  if (!(Number.isInteger(points) && points >= 1 && Number.isFinite(seconds) && seconds > 0)) {
    throw new RangeError(
      `A limit of ${points} points in ${seconds} seconds: points must be a whole number from 1, and seconds above 0`,
    )
  }
  const window = Math.ceil(seconds * 1_000 * MICROS)
  return { window, interval: Math.max(1, Math.floor(window / points)) }
}

/**
 * How far clocks of instances may differ, in whole microseconds. A state that is further ahead was left by a clock that was
 * set back, and is corrected: the correction of a small difference would give back the points that the clock ahead has taken.
 */
export const CLOCK_TOLERANCE_MICROS = 60_000 * MICROS

/** A moment in whole microseconds. @param ms milliseconds since the epoch. */
export function toMicros(ms: number): number {
  return Math.round(ms * MICROS)
}

/** The result for a call that got its point. */
export const ALLOWED: RateLimitResult = { allowed: true, retryAfterSeconds: 0 }

/**
 * The result for a refused call.
 * @param fullAt moment at which all points are back.
 */
export function refusal(fullAt: number, now: number, { window, interval }: RateCells): RateLimitResult {
  // A clock that was set back must not block anybody: no moment is further ahead than the limit's window.
  const wait = Math.min(fullAt, now + window) + interval - window - now
  return { allowed: false, retryAfterSeconds: Math.max(1, Math.ceil(wait / 1_000 / MICROS)) }
}
