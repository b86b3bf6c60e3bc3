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
}

/** `stale`: usable, but due for a refresh. `expired`: not usable. */
type ValueState = 'fresh' | 'stale' | 'expired'

/** A value from the future, made by a clock that runs ahead, counts as just made. */
export function valueState({ madeAt, freshMs, staleMs }: KeptValue, now: number): ValueState {
  const age = now - madeAt
  if (age <= freshMs) return 'fresh'
  return age <= freshMs + staleMs ? 'stale' : 'expired'
}
