/**
 * When to try the service. Any failure pauses all delivery, twice as long each time, and holds its own client back;
 * after the pause, one envelope of a client that has not failed since is the probe, soon if there is one. So envelopes on which
 * the service always fails do not stop the rest. One that fails again after others were answered pauses its client only, and is
 * hopeless once this has happened often.
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
const LONGEST_ASKED_MS = 3_600_000 // a longer `Retry-After` counts as a mistake
const HOPELESS_FAILURES = 12 // of one envelope; at least some minutes
const MOST_HOLDS = 1_000 // clients; the one whose failure is oldest is released

/** An attempt that has failed. */
interface FailedAttempt {
  /** Of the envelope. */
  readonly id: number
  readonly client: string
  /** When it began. */
  readonly startedAt: number
  /** Requested by the service, in milliseconds; 0 if not. */
  readonly retryAfterMs: number
  /** Whether it is a rate limit, which is for all. */
  readonly isLimit: boolean
}

/** Decides when to try what. All times are milliseconds of one clock. */
interface DeliveryPace {
  /** Milliseconds until the next attempt may begin. */
  pauseLeft(now: number): number
  /** Whether the service has failed and not answered since. */
  readonly failing: boolean
  /** Maximum number of concurrent attempts. */
  mostInFlight(): number
  /** Whether this client's envelopes must wait while there are others to send. */
  isHeld(client: string, now: number): boolean
  /** Whether one of those may be sent, because there are no others. */
  mayRepeat(now: number): boolean
  /** @returns whether the envelope is hopeless and should be dropped. */
  failed(attempt: FailedAttempt, now: number): boolean
  /** @returns whether this ends an outage. */
  succeeded(client: string): boolean
}

interface Hold {
  readonly id: number
  /** Failures of one outage count as one. */
  readonly failures: number
  /** All failures, of the client. */
  readonly tries: number
  readonly until: number
  /** Successes of all clients before its last failure. */
  readonly successesBefore: number
  /** It has failed again after others were answered. */
  readonly isItsFault: boolean
}

/**
 * @param random 0 to below 1.
 * @param most concurrent attempts while the service works.
 */
export function createDeliveryPace(random: () => number, most: number): DeliveryPace {
  const holds = new Map<string, Hold>()
  let pausedUntil = 0
  /** Clients that have failed wait so long, because the service has asked for it. */
  let askedUntil = 0
  let lastFailureAt = Number.NEGATIVE_INFINITY
  let failures = 0
  let successes = 0

  /** Half of it is fixed, so that nothing is retried at once; half is random, so that instances spread out. */
  function pauseAfter(count: number): number {
    const ceiling = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (count - 1))
    return ceiling / 2 + (ceiling / 2) * random()
  }

  /** A time that is further away means that the clock was set back. */
  const msUntil = (time: number, now: number): number => (time - now > LONGEST_ASKED_MS ? 0 : Math.max(0, time - now))

  return {
    pauseLeft: (now) => msUntil(pausedUntil, now),
    get failing() {
      return failures > 0
    },
    mostInFlight: () => (failures > 0 ? 1 : most),
    isHeld(client, now) {
      const hold = holds.get(client)
      if (hold === undefined) return false
      return hold.until > now || (failures > 0 && hold.successesBefore === successes)
    },

    mayRepeat: (now) => failures > 0 && msUntil(askedUntil, now) === 0,

    failed({ id, client, startedAt, retryAfterMs, isLimit }, now) {
      const former = holds.get(client)
      const asked = Math.min(retryAfterMs, LONGEST_ASKED_MS)
      // Others were answered between two of its failures.
      const isItsFault = former !== undefined && (former.isItsFault || former.successesBefore < successes)
      // Concurrent attempts fail together: that is one failure of the service.
      if (startedAt > lastFailureAt && !isItsFault) {
        failures += 1
        lastFailureAt = now
      }
      // While each failure is of another client, the service may fail for these only.
      const pause = pauseAfter(former === undefined ? 1 : failures)
      // What it asks of one client only, however often, may be due to that client's envelopes.
      const isForAll = isLimit || (failures > 1 && former === undefined)
      if (!isItsFault) {
        pausedUntil = Math.max(pausedUntil, now + Math.max(isForAll ? asked : 0, pause))
        askedUntil = Math.max(askedUntil, now + asked)
      }
      const isOutage = former?.id === id && former.successesBefore === successes
      const count = former?.id === id ? former.failures + (isOutage ? 0 : 1) : 1
      if (count >= HOPELESS_FAILURES) {
        holds.delete(client)
        return true
      }
      holds.delete(client)
      const tries = former === undefined ? 1 : former.tries + 1
      const until = Math.max(now + asked, pausedUntil) + pauseAfter(isItsFault ? tries : count)
      holds.set(client, { id, failures: count, tries, until, successesBefore: successes, isItsFault })
      for (const oldest of holds.keys()) {
        if (holds.size <= MOST_HOLDS) break
        holds.delete(oldest)
      }
      return false
    },

    succeeded(client) {
      const ended = failures > 0
      if (ended) {
        // A first failure is blamed on the outage, so clients that it has held back are released.
        for (const [held, hold] of holds) if (hold.failures === 1) holds.set(held, { ...hold, until: 0 })
      }
      successes += 1
      failures = 0
      pausedUntil = askedUntil = 0
      holds.delete(client)
      return ended
    },
  }
}
