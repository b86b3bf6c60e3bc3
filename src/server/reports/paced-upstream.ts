import { createReportBudget } from './sdk/report-budget.ts'
import type { Upstream } from './upstream.ts'

/**
 * Each takes a quarter of a millisecond, so this is a fifth of a core: the rest is for pages, and for reports that come.
 * A full spool is delivered in two minutes.
 */
const DELIVERIES_A_SECOND = 800
const DELIVERIES_AT_ONCE = 100
const PAUSE_MS = 20 // in which as many may be sent as are under way together

/** Time, for tests. */
export interface PaceClock {
  /** Milliseconds. */
  now(): number
  /** Runs something later; what is returned takes it back. */
  after(milliseconds: number, run: () => void): () => void
}

/** A way to the service that keeps a backlog from taking the whole processor. */
export function createPacedUpstream(upstream: Upstream, clock: PaceClock): Upstream {
  const budget = createReportBudget(DELIVERIES_A_SECOND, DELIVERIES_AT_ONCE)

  function pause(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const over = (): void => {
      cancel()
      signal.removeEventListener('abort', over)
      resolve()
    }
    const cancel = clock.after(PAUSE_MS, over)
    signal.addEventListener('abort', over, { once: true })
    return promise
  }

  return {
    ...upstream,
    async send(body, headers, signal) {
      while (!signal.aborted && !budget.take(clock.now())) await pause(signal)
      return upstream.send(body, headers, signal)
    },
  }
}
