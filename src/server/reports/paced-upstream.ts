import { createReportBudget } from './sdk/report-budget.ts'
import type { Upstream } from './upstream.ts'

/**
 * Each takes a seventh of a millisecond, so this is an eighth of a core: the rest is for pages, and for reports that come.
 * A full spool is delivered in two minutes.
 */
const DELIVERIES_A_SECOND = 800
const DELIVERIES_AT_ONCE = 100
/**
 * In which 64 more may be sent. They go one behind the other as fast as the service takes them: evenly spread, each would
 * wake the process by itself, which takes as much again as sending it.
 */
const PAUSE_MS = 80

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
  /** First come, first served. */
  const waiting = new Set<() => void>()
  /** Ends the pause early; set while there is one. */
  let cancel: (() => void) | undefined

  function goOn(): void {
    cancel = undefined
    for (const go of waiting) {
      if (!budget.take(clock.now())) return pause()
      go()
    }
  }

  function pause(): void {
    cancel ??= clock.after(PAUSE_MS, goOn)
  }

  /** @returns once it is this one's turn, or it is given up. */
  function turn(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const go = (): void => {
      waiting.delete(go)
      signal.removeEventListener('abort', giveUp)
      resolve()
    }
    const giveUp = (): void => {
      go()
      if (waiting.size > 0) return
      cancel?.()
      cancel = undefined
    }
    signal.addEventListener('abort', giveUp, { once: true })
    waiting.add(go)
    pause()
    return promise
  }

  return {
    ...upstream,
    send(body, headers, signal) {
      const isFree = cancel === undefined && budget.take(clock.now())
      if (isFree || signal.aborted) return upstream.send(body, headers, signal)
      return turn(signal).then(() => upstream.send(body, headers, signal))
    },
  }
}
