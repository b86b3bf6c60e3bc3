/** Counts requests by key. */
export interface AttemptCounter {
  /** Counts one more request. @returns the requests for the key so far, this one included. */
  count(key: string): number
}

/** @param mostKeys beyond it the key that was asked for longest ago is forgotten, and starts again. */
export function createAttemptCounter(mostKeys: number): AttemptCounter {
  const counts = new Map<string, number>() // least recently counted first
  return {
    count(key) {
      const attempts = (counts.get(key) ?? 0) + 1
      counts.delete(key)
      counts.set(key, attempts)
      const [oldest] = counts.keys()
      if (counts.size > mostKeys && oldest !== undefined) counts.delete(oldest)
      return attempts
    },
  }
}
