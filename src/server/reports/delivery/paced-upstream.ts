import { createReportBudget } from './report-budget.ts'
import type { Upstream } from './upstream.ts'

/** However busy the process is. Each envelope takes a seventh of a millisecond, so this is an eighth of a core. */
const LEAST_A_SECOND = 800
/** While the process is otherwise idle. */
const MOST_A_SECOND = 6_400
const DELIVERIES_AT_ONCE = 100
/**
 * Pause between two bursts of at least 64 envelopes. Within a burst they are sent as fast as the service accepts them:
 * evenly spread, each would wake the process separately, which costs as much as sending it.
 */
const PAUSE_MS = 80
/** Idle shares of a pause and the burst before it: above the first, more is sent; below the second, less. */
const IDLE_ENOUGH = 0.25
const IDLE_LITTLE = 0.1
const STEP = 1.5
/** Older measurements are ignored. */
const FORGET_MS = 1_000

/** Clock and timer, for tests. */
interface PaceClock {
  /** Milliseconds. */
  now(): number
  /** Share of the time since the last call in which the process had nothing to do, 0 to 1. */
  idleShare(): number
  /** Runs a function later; the result cancels it. */
  after(milliseconds: number, run: () => void): () => void
}

/**
 * An upstream that keeps a backlog from taking the whole processor: it uses three quarters while the process is idle,
 * and an eighth while pages are served at full speed.
 */
export function createPacedUpstream(upstream: Upstream, clock: PaceClock): Upstream {
  let perSecond = LEAST_A_SECOND
  let lookedAt = Number.NEGATIVE_INFINITY
  const budget = createReportBudget(perSecond, DELIVERIES_AT_ONCE)
  /** In order of arrival. */
  const waiting = new Set<() => void>()
  /** Ends the pause early; set during one. */
  let cancel: (() => void) | undefined

  function setPace(next: number): void {
    perSecond = Math.min(MOST_A_SECOND, Math.max(LEAST_A_SECOND, next))
    budget.change(perSecond, Math.max(DELIVERIES_AT_ONCE, (perSecond * PAUSE_MS) / 1_000))
  }

  function goOn(): void {
    cancel = undefined
    lookedAt = clock.now()
    const idle = clock.idleShare()
    if (idle > IDLE_ENOUGH) setPace(perSecond * STEP)
    else if (idle < IDLE_LITTLE) setPace(perSecond / STEP)
    for (const go of waiting) {
      if (!budget.take(clock.now())) return pause()
      go()
    }
  }

  function pause(): void {
    if (cancel !== undefined) return
    if (clock.now() - lookedAt > FORGET_MS) {
      setPace(LEAST_A_SECOND)
      clock.idleShare()
    }
    cancel = clock.after(PAUSE_MS, goOn)
  }

  /** @returns resolves when it may send, or has been aborted. */
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
