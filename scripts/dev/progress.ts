import type { DevWork, OnWork } from './dev-parts.ts'

/** Tells the terminal of work that takes long, and is silent about all other. */
export interface Progress {
  /** The work that has just started. */
  note(work: DevWork): void
  during<Result>(update: Promise<Result>): Promise<Result>
}

const PATIENCE_MS = 1_000

/**
 * @param print prints a line.
 * @param now monotonic milliseconds.
 * @param onWork hears of all work, too.
 */
export function createProgress(print: (text: string) => void, now: () => number, onWork?: OnWork): Progress {
  const state: { work?: DevWork } = {}
  return {
    note(work) {
      state.work = work
      onWork?.(work)
    },
    async during(update) {
      const started = now()
      const seconds = (): string => `${((now() - started) / 1_000).toFixed(1)} s`
      const tell = (): void => print(`Building (${state.work ?? 'sources'}) … ${seconds()}`)
      const timer = setInterval(tell, PATIENCE_MS)
      try {
        return await update
      } finally {
        clearInterval(timer)
      }
    },
  }
}
