/**
 * A cached value, in memory and in the shared store. Durations in milliseconds, moments in milliseconds since the
 * epoch.
 */
export interface KeptValue {
  /** From `valueToText`. */
  readonly text: string
  readonly tags: readonly string[]
  readonly madeAt: number
  /** How long it is fresh. */
  readonly freshMs: number
  /** How much longer it is stale. */
  readonly staleMs: number
  /** Whether it was made of a value that was stale. */
  readonly ofStale: boolean
}

/**
 * How long at most something is fresh that was made of a stale value. A new value is made at the same time, and would
 * else be seen only after the whole time of what was made of the old one.
 */
export const FRESH_OF_STALE_MS = 1_000

/** `stale`: usable, but due for a refresh. `expired`: not usable. */
type ValueState = 'fresh' | 'stale' | 'expired'

/**
 * How far clocks of instances may differ. What was made later than that is from before a clock was set back: its age is
 * unknown, and it would stay fresh until the clock has caught up.
 */
const MOST_SKEW_MS = 5_000

/** Whether a moment cannot be one of the past by any clock. */
export function isOfFuture(madeAt: number, now: number): boolean {
  return madeAt - now > MOST_SKEW_MS
}

/** A value of a clock that runs a little ahead counts as just made. */
export function valueState({ madeAt, freshMs, staleMs }: KeptValue, now: number): ValueState {
  if (isOfFuture(madeAt, now)) return 'expired'
  const age = now - madeAt
  if (age <= freshMs) return 'fresh'
  return age <= freshMs + staleMs ? 'stale' : 'expired'
}
