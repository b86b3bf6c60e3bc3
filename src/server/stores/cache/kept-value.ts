/** A value as it is kept, in memory and elsewhere. Times in milliseconds, moments since the epoch. */
export interface KeptValue {
  /** By `valueToText`. */
  readonly text: string
  readonly tags: readonly string[]
  /** When it was made. */
  readonly madeAt: number
  /** For so long it is given out as it is. */
  readonly freshMs: number
  /** For so long after that it is given out while a new one is made. */
  readonly staleMs: number
}

/** `stale`: to be given out and made anew. `expired`: not to be given out. */
export type ValueState = 'fresh' | 'stale' | 'expired'

/** How a value may be used. One from the future, by a clock that goes ahead, counts as just made. */
export function valueState({ madeAt, freshMs, staleMs }: KeptValue, now: number): ValueState {
  const age = now - madeAt
  if (age <= freshMs) return 'fresh'
  return age <= freshMs + staleMs ? 'stale' : 'expired'
}
