/**
 * Writes of one turn of the event loop as one transaction. A commit costs as much as the small write that it ends, so ten
 * envelopes that come together cost half. Each is done when the transaction is: what has been told of it is kept.
 */
import type { Database } from './open-database.ts'

/** Takes writes, and does them together. */
export interface GroupedWrites {
  /**
   * Runs work in the transaction of this turn, by itself where another one's work fails in it; so it may run twice.
   * @throws what `work` throws, and {DatabaseError} where the file cannot be opened.
   */
  write<Result>(work: () => Result): Promise<Result>
}

interface Job {
  /** @throws what the work throws. */
  run(): void
  done(): void
  failed(reason: unknown): void
}

const MOST_TOGETHER = 64 // small writes: some milliseconds

/**
 * @param defer runs something behind what this turn of the event loop still brings.
 */
export function createGroupedWrites(
  database: Pick<Database, 'write'>,
  defer: (run: () => void) => void = setImmediate,
): GroupedWrites {
  const waiting: Job[] = []

  function flush(): void {
    const jobs = waiting.splice(0, MOST_TOGETHER)
    if (waiting.length > 0) defer(flush)
    try {
      database.write(() => {
        for (const job of jobs) job.run()
      })
    } catch (thrown) {
      // All is undone. Alone, each learns whether it was the one.
      if (jobs.length === 1) jobs[0]?.failed(thrown)
      else for (const job of jobs) runAlone(job)
      return
    }
    for (const job of jobs) job.done()
  }

  function runAlone(job: Job): void {
    try {
      database.write(() => job.run())
    } catch (thrown) {
      job.failed(thrown)
      return
    }
    job.done()
  }

  return {
    write<Result>(work: () => Result) {
      return new Promise<Result>((resolve, reject) => {
        let result: Result
        const run = (): void => {
          result = work()
        }
        waiting.push({ run, done: () => resolve(result), failed: reject })
        if (waiting.length === 1) defer(flush)
      })
    },
  }
}
