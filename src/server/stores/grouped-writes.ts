/**
 * Groups writes into one transaction. A commit costs as much as several small writes, so all writes of one turn of the
 * event loop share one, and under load those of several turns: between two commits there are 2 ms, or eight writes.
 * Each promise resolves after the commit. While another process holds the file's lock, the group tries again every 50 ms
 * and nothing waits in the event loop; after two seconds all of it fails, and what follows fails at its first try.
 */
import type { Database } from './open-database.ts'
import { isLocked } from './opening-fault.ts'

/** Collects writes and runs them together. */
export interface GroupedWrites {
  /**
   * Runs work in the next transaction. If other work of that transaction fails, it runs again in one of its own.
   * @param patienceMs how long it may wait for other writes. By default it waits for the end of this turn of the event
   * loop, and for the pause after the last commit.
   * @throws errors of `work`, and {DatabaseError} if the file cannot be opened.
   */
  write<Result>(work: () => Result, patienceMs?: number): Promise<Result>
  /** Whether the last try found the file locked by another process. */
  readonly isLocked: boolean
}

/** Clock and timer, for tests. */
export interface WriteClock {
  /** Monotonic milliseconds. */
  now(): number
  /** Runs a function after this turn of the event loop, or later. @returns a function that cancels it. */
  after(milliseconds: number, run: () => void): () => void
}

interface Job {
  /** @throws the errors of the work. */
  run(): void
  done(): void
  failed(reason: unknown): void
}

const MOST_TOGETHER = 64 // small writes: a few milliseconds
const PAUSE_MS = 2 // an unnoticeable delay
const LOCK_RETRY_MS = 50
const LOCK_PATIENCE_MS = 2_000 // a migration or a copy of the file may take as long
const ENOUGH = 8 // larger groups would save little, and delay their writers

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

/** Creates the group of a database. */
export function createGroupedWrites(
  database: Pick<Database, 'write'>,
  clock: WriteClock = SYSTEM_CLOCK,
): GroupedWrites {
  const waiting: Job[] = []
  let committedAt = Number.NEGATIVE_INFINITY
  let lockedSince: number | undefined
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
      if (isLocked(thrown)) return waitForLock(jobs, thrown)
      lockedSince = undefined
      // Everything is rolled back. Run alone, each job learns whether it was the faulty one.
      if (jobs.length === 1) jobs[0]?.failed(thrown)
      else for (const job of jobs) runAlone(job)
      return settle()
    }
    lockedSince = undefined
    for (const job of jobs) job.done()
    settle()
  }

  function waitForLock(jobs: readonly Job[], thrown: unknown): void {
    const now = clock.now()
    lockedSince ??= now
    if (now - lockedSince < LOCK_PATIENCE_MS) {
      waiting.unshift(...jobs)
      return plan(now + LOCK_RETRY_MS, now)
    }
    for (const job of [...jobs, ...waiting.splice(0)]) job.failed(thrown)
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
    get isLocked() {
      return lockedSince !== undefined
    },
    write<Result>(work: () => Result, patienceMs = 0) {
      return new Promise<Result>((resolve, reject) => {
        let result: Result
        const run = (): void => {
          result = work()
        }
        waiting.push({ run, done: () => resolve(result), failed: reject })
        const now = clock.now()
        if (lockedSince !== undefined && planned !== undefined) return
        plan(waiting.length >= ENOUGH ? now : Math.max(now + patienceMs, committedAt + PAUSE_MS), now)
      })
    },
  }
}
