/** A cached value, in memory and in the shared store. Times in milliseconds, moments since the epoch. */
export interface KeptValue {
  /** From `valueToText`. */
  readonly text: string
  readonly tags: readonly string[]
  readonly madeAt: number
  /** How long it is fresh. */
  readonly freshMs: number
  /** How long after that it is stale. */
  readonly staleMs: number
}

/** `stale`: usable, but to be made again. `expired`: not usable. */
export type ValueState = 'fresh' | 'stale' | 'expired'

/** A value from the future, made by a clock that runs ahead, counts as just made. */
export function valueState({ madeAt, freshMs, staleMs }: KeptValue, now: number): ValueState {
  const age = now - madeAt
  if (age <= freshMs) return 'fresh'
  return age <= freshMs + staleMs ? 'stale' : 'expired'
}
