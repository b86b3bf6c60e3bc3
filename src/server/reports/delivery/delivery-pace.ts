/**
 * How hard the service is tried. Any failure pauses all delivery, twice as long each time, and holds its own client
 * back; after the pause one envelope of another client is the probe. So an envelope on which the service always fails
 * does not stop the rest. It is hopeless once it has failed often, with successes of others in between each time.
 *
 * | state   | in flight | on success | on failure                  |
 * |---------|-----------|------------|-----------------------------|
 * | flowing | many      | flowing    | paused                      |
 * | paused  | none new  | flowing    | paused (same outage: no-op) |
 * | probing | one       | flowing    | paused, longer              |
 */

/** The first pause and the longest. Milliseconds. */
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000
const LONGEST_ASKED_MS = 3_600_000 // a `Retry-After` beyond this is taken for a mistake
const HOPELESS_FAILURES = 12 // of one envelope; at least some minutes
const MOST_HOLDS = 1_000 // clients; the one that has failed longest ago is let go

/** An attempt that has failed. */
export interface FailedAttempt {
  /** Of the envelope. */
  readonly id: number
  readonly client: string
  /** When it began. */
  readonly startedAt: number
  /** What the service has asked for, in milliseconds; 0 if nothing. */
  readonly retryAfterMs: number
}

/** Judges when to try what. All times are milliseconds of one clock. */
export interface DeliveryPace {
  /** Milliseconds until the next attempt may begin. */
  pauseLeft(now: number): number
  /** Whether the service has failed and not answered since. */
  readonly failing: boolean
  /** How many attempts may be under way at once. */
  mostInFlight(): number
  /** Whether this client's envelopes have to wait as long as there are others to send. */
  isHeld(client: string, now: number): boolean
  /** @returns whether the envelope is hopeless and should be given up. */
  failed(attempt: FailedAttempt, now: number): boolean
  /** @returns whether an outage ends with this. */
  succeeded(client: string): boolean
}

interface Hold {
  readonly id: number
  /** Those in one outage count as one. */
  readonly failures: number
  readonly until: number
  /** Successes of all before its last failure. */
  readonly successesBefore: number
}

/**
 * @param random 0 to below 1.
 * @param most attempts at once while all is well.
 */
export function createDeliveryPace(random: () => number, most: number): DeliveryPace {
  const holds = new Map<string, Hold>()
  let pausedUntil = 0
  let lastFailureAt = Number.NEGATIVE_INFINITY
  let failures = 0
  let successes = 0

  /** Half of it is certain, so that nothing is tried again at once; half is chance, so that instances spread. */
  function pauseAfter(count: number): number {
    const ceiling = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (count - 1))
    return ceiling / 2 + (ceiling / 2) * random()
  }

  return {
    pauseLeft(now) {
      const left = Math.max(0, pausedUntil - now)
      return left > LONGEST_ASKED_MS ? 0 : left // the clock was set back
    },
    get failing() {
      return failures > 0
    },
    mostInFlight: () => (failures > 0 ? 1 : most),
    isHeld: (client, now) => (holds.get(client)?.until ?? 0) > now,

    failed({ id, client, startedAt, retryAfterMs }, now) {
      // Attempts that were under way together fail together: that is one failure of the service.
      if (startedAt > lastFailureAt) {
        failures += 1
        lastFailureAt = now
      }
      const asked = Math.min(retryAfterMs, LONGEST_ASKED_MS)
      pausedUntil = Math.max(pausedUntil, now + Math.max(asked, pauseAfter(failures)))
      const former = holds.get(client)
      const isOutage = former?.id === id && former.successesBefore === successes
      const count = former?.id === id ? former.failures + (isOutage ? 0 : 1) : 1
      if (count >= HOPELESS_FAILURES) {
        holds.delete(client)
        return true
      }
      holds.delete(client)
      holds.set(client, { id, failures: count, until: pausedUntil + pauseAfter(count), successesBefore: successes })
      for (const oldest of holds.keys()) {
        if (holds.size <= MOST_HOLDS) break
        holds.delete(oldest)
      }
      return false
    },

    succeeded(client) {
      const ended = failures > 0
      if (ended) {
        // A first failure is laid to the outage, and whom it has held back may go at once.
        for (const [held, hold] of holds) if (hold.failures === 1) holds.set(held, { ...hold, until: 0 })
      }
      successes += 1
      failures = 0
      pausedUntil = 0
      holds.delete(client)
      return ended
    },
  }
}
