import type { DevWork, OnWork } from '../compile/dev-parts.ts'

/** Tells the terminal of work that takes long, and is silent about all other. */
interface Progress {
  /** The work that has just started. */
  note(work: DevWork): void
  /** @param update resolves with whether it has succeeded. */
  during(update: Promise<boolean>): Promise<boolean>
}

/** Where progress is shown. */
export interface ProgressOutput {
  /** Prints a line. */
  print(text: string): void
  /** Replaces the last line, which is none of those that are printed; empty to remove it. Default: no line can be replaced. */
  readonly status?: ((text: string) => void) | undefined
}

const PATIENCE_MS = 1_000

/**
 * One line for each update that takes long: it is replaced each second, or printed once where that is not possible. Another
 * line tells how long it took.
 * @param now monotonic milliseconds.
 * @param onWork called for all work, too.
 */
export function createProgress({ print, status }: ProgressOutput, now: () => number, onWork?: OnWork): Progress {
  const state: { work?: DevWork } = {}
  return {
    note(work) {
      state.work = work
      onWork?.(work)
    },
    async during(update) {
      const started = now()
      let isTold = false
      const seconds = (): string => `${((now() - started) / 1_000).toFixed(1)} s`
      const timer = setInterval(() => {
        if (status !== undefined) status(`Building (${state.work ?? 'sources'}) … ${seconds()}`)
        else if (!isTold) print('Building …')
        isTold = true
      }, PATIENCE_MS)
      try {
        const isBuilt = await update
        if (isTold) {
          status?.('')
          if (isBuilt) print(`Built in ${seconds()}.`)
        }
        return isBuilt
      } finally {
        clearInterval(timer)
      }
    },
  }
}
