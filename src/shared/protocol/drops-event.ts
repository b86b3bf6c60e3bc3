/**
 * How an event stream tells `useEvents` what was dropped: at its beginning the last time for each of its targets, later
 * each drop. Data whose answer says a time before that is outdated (`at` in `route-data.ts` and `hydration-data.ts`).
 */

/** Name of the event; applications have other names. */
export const DROPS_EVENT = 'millrace:drops'

/** Its data, as JSON. */
export interface DropsMessage {
  /** Microseconds since the epoch, by target. */
  readonly targets: Readonly<Record<string, number>>
  /** Milliseconds over which browsers spread their requests; 0 for at once. */
  readonly spread: number
}
