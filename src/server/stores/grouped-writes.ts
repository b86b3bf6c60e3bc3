/**
 * Writes that come together as one transaction. A commit costs as much as several small writes, so those of one turn of
 * the event loop share one, and under load those of some turns: from one commit to the next there are 2 ms, or eight
 * writes. Each is done when the transaction is: what has been told of it is kept.
 */
import type { Database } from './open-database.ts'

/** Takes writes, and does them together. */
export interface GroupedWrites {
  /**
   * Runs work in the next transaction, by itself where another one's work fails in it; so it may run twice.
   * @param patienceMs how long it may wait for others. Without it, it waits for the end of this turn of the event loop,
   * and for the pause behind the last commit.
   * @throws what `work` throws, and {DatabaseError} where the file cannot be opened.
   */
  write<Result>(work: () => Result, patienceMs?: number): Promise<Result>
}

/** Time, for tests. */
export interface WriteClock {
  /** Milliseconds, never going back. */
  now(): number
  /** Runs something behind what this turn of the event loop still brings, or later. @returns what takes it back. */
  after(milliseconds: number, run: () => void): () => void
}

interface Job {
  /** @throws what the work throws. */
  run(): void
  done(): void
  failed(reason: unknown): void
}

const MOST_TOGETHER = 64 // small writes: some milliseconds
const PAUSE_MS = 2 // nobody waits noticeably
const ENOUGH = 8 // more in one would save little, and those who wait for it could send the next

const SYSTEM_CLOCK: WriteClock = {
  now: () => performance.now(),
  after(milliseconds, run) {
    if (milliseconds > 0) {
      const timer = setTimeout(run, milliseconds)
      return () => clearTimeout(timer)
    }
    const turn = setImmediate(run)
    return () => clearImmediate(turn)
  },
}

/** Makes the group of a database. */
export function createGroupedWrites(
  database: Pick<Database, 'write'>,
  clock: WriteClock = SYSTEM_CLOCK,
): GroupedWrites {
  const waiting: Job[] = []
  let committedAt = Number.NEGATIVE_INFINITY
  let planned: { readonly at: number; readonly cancel: () => void } | undefined

  function plan(at: number, now: number): void {
    if (planned !== undefined && planned.at <= at) return
    planned?.cancel()
    planned = { at, cancel: clock.after(Math.max(0, at - now), flush) }
  }

  function flush(): void {
    planned = undefined
    const jobs = waiting.splice(0, MOST_TOGETHER)
    try {
      database.write(() => {
        for (const job of jobs) job.run()
      })
    } catch (thrown) {
      // All is undone. Alone, each learns whether it was the one.
      if (jobs.length === 1) jobs[0]?.failed(thrown)
      else for (const job of jobs) runAlone(job)
      return settle()
    }
    for (const job of jobs) job.done()
    settle()
  }

  function settle(): void {
    committedAt = clock.now()
    if (waiting.length > 0) plan(committedAt, committedAt)
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
    write<Result>(work: () => Result, patienceMs = 0) {
      return new Promise<Result>((resolve, reject) => {
        let result: Result
        const run = (): void => {
          result = work()
        }
        waiting.push({ run, done: () => resolve(result), failed: reject })
        const now = clock.now()
        plan(waiting.length >= ENOUGH ? now : Math.max(now + patienceMs, committedAt + PAUSE_MS), now)
      })
    },
  }
}
