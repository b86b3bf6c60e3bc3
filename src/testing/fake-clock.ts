/** A clock that only the test moves: `createTestApp(app, { clock })`. */
export interface FakeClock {
  /** Milliseconds since the epoch. */
  now(): number
  /**
   * Moves it forward.
   * @throws {RangeError} for what is not a number of milliseconds from 0.
   */
  advance(milliseconds: number): void
  /**
   * Sets it, backwards too, as a machine's clock may be set.
   * @throws {RangeError} for an invalid date.
   */
  set(moment: Date | number): void
}

/**
 * Makes a clock for the server's sessions, cached values, kept documents, idempotency keys and limits, and for the
 * cookies of its visitors. Timers and `Date` are left alone: use those of the test runner for your own code.
 * @param start where it begins; default: now.
 */
export function fakeClock(start: Date | number = Date.now()): FakeClock {
  const state = { now: checked(Number(start)) }
  return {
    now: () => state.now,
    advance(milliseconds) {
      if (!(milliseconds >= 0)) throw new RangeError(`A clock advances by milliseconds from 0, not by ${milliseconds}`)
      state.now = checked(state.now + milliseconds)
    },
    set(moment) {
      state.now = checked(Number(moment))
    },
  }
}

const MOST_MS = 8.64e15 // the last moment that a Date can hold

function checked(moment: number): number {
  if (!(Math.abs(moment) <= MOST_MS)) throw new RangeError(`${moment} is not a moment that a Date can hold`)
  return moment
}
