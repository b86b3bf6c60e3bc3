/**
 * Which workers exist, and what to do about it: the reducer takes events, `nextStep` returns what follows. A worker is
 * `starting`, then `serving`, perhaps `leaving` (it takes no new requests), then gone.
 *
 * | what happens                                       | what follows                                              |
 * |----------------------------------------------------|-----------------------------------------------------------|
 * | the start                                          | one worker, to see whether it can serve                   |
 * | the first is ready                                 | all the others at once                                    |
 * | the first dies before it was ready                 | the end, 1                                                |
 * | one dies or leaves after `YOUNG_MS` or more        | another at once                                           |
 * | one dies younger                                   | another after 1 s, then 2, 4, ... 30 s                    |
 * | so young `MOST_FAILURES` times with none serving   | the end, 1: the supervisor decides                        |
 * | `stop`                                             | nothing new; the end once all are gone: 0, or 1 where one did not end with 0 |
 *
 * A young death more than `FORGET_MS` after the one before counts as the first.
 */

/** One worker. */
interface PooledWorker {
  readonly phase: 'starting' | 'serving' | 'leaving'
  /** Milliseconds on the clock of `now`. */
  readonly since: number
}

/** All workers, and their history. */
export interface WorkerPool {
  /** How many should serve. */
  readonly wanted: number
  /** By id. */
  readonly workers: ReadonlyMap<number, PooledWorker>
  /** One has been ready at some time. */
  readonly proven: boolean
  /** The first one died before it was ready. */
  readonly hopeless: boolean
  /** Deaths of young workers in a row. */
  readonly failures: number
  /** Time of the last of them. */
  readonly failedAt: number | undefined
  readonly stopping: boolean
  /** A worker has not ended with 0 when it was stopped. */
  readonly disorderly: boolean
}

/** What can happen. */
export type PoolAction =
  | { readonly kind: 'started'; readonly id: number; readonly now: number }
  | { readonly kind: 'ready'; readonly id: number }
  | { readonly kind: 'leaving'; readonly id: number }
  | { readonly kind: 'died'; readonly id: number; readonly code: number | null; readonly now: number }
  | { readonly kind: 'stop' }

/** What to do now. */
type PoolStep =
  | { readonly kind: 'fork'; readonly count: number }
  /** Ask again at that time, or after the next action. */
  | { readonly kind: 'wait'; readonly until?: number }
  | { readonly kind: 'end'; readonly code: 0 | 1 }

/** A worker that has lived longer did not die of its start. */
export const YOUNG_MS = 10_000
/** Young deaths in a row, with no worker serving, that end the process: half a minute of backoff. */
export const MOST_FAILURES = 6
const FORGET_MS = 120_000
const FIRST_BACKOFF_MS = 1_000
const MOST_BACKOFF_MS = 30_000

/** @param wanted how many workers should serve, at least 1. */
export function createPool(wanted: number): WorkerPool {
  return {
    wanted,
    workers: new Map(),
    proven: false,
    hopeless: false,
    failures: 0,
    failedAt: undefined,
    stopping: false,
    disorderly: false,
  }
}

/** The pool after an action. Actions of unknown workers change nothing. */
export function reducePool(pool: WorkerPool, action: PoolAction): WorkerPool {
  switch (action.kind) {
    case 'stop':
      return { ...pool, stopping: true }
    case 'started':
      return { ...pool, workers: withWorker(pool, action.id, { phase: 'starting', since: action.now }) }
    case 'ready':
    case 'leaving': {
      const known = pool.workers.get(action.id)
      if (known === undefined) return pool
      const phase = action.kind === 'ready' ? 'serving' : 'leaving'
      const workers = withWorker(pool, action.id, { ...known, phase })
      return { ...pool, workers, proven: pool.proven || phase === 'serving' }
    }
    case 'died':
      return afterDeath(pool, action)
  }
}

/** What the pool needs. */
export function nextStep(pool: WorkerPool, now: number): PoolStep {
  const { workers, wanted, proven, stopping, disorderly, hopeless, failures } = pool
  const phases = [...workers.values()].map(({ phase }) => phase)
  if (stopping) return workers.size === 0 ? { kind: 'end', code: disorderly ? 1 : 0 } : { kind: 'wait' }
  if (hopeless || (failures >= MOST_FAILURES && !phases.includes('serving'))) return { kind: 'end', code: 1 }
  const missing = (proven ? wanted : 1) - phases.filter((phase) => phase !== 'leaving').length
  if (missing <= 0) return { kind: 'wait' }
  const until = restartAt(pool)
  return until > now ? { kind: 'wait', until } : { kind: 'fork', count: missing }
}

/** Whether all wanted workers serve. */
export function isComplete({ workers, wanted }: WorkerPool): boolean {
  return [...workers.values()].filter(({ phase }) => phase === 'serving').length >= wanted
}

function afterDeath(pool: WorkerPool, { id, code, now }: Extract<PoolAction, { kind: 'died' }>): WorkerPool {
  const dead = pool.workers.get(id)
  if (dead === undefined) return pool
  const workers = new Map(pool.workers)
  workers.delete(id)
  if (pool.stopping) return { ...pool, workers, disorderly: pool.disorderly || code !== 0 }
  if (!pool.proven) return { ...pool, workers, hopeless: true }
  if (now - dead.since >= YOUNG_MS) return { ...pool, workers, failures: 0, failedAt: undefined }
  const inARow = pool.failedAt !== undefined && now - pool.failedAt <= FORGET_MS
  return { ...pool, workers, failures: inARow ? pool.failures + 1 : 1, failedAt: now }
}

function restartAt({ failures, failedAt }: WorkerPool): number {
  if (failedAt === undefined) return 0
  return failedAt + Math.min(MOST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (failures - 1))
}

function withWorker({ workers }: WorkerPool, id: number, worker: PooledWorker): ReadonlyMap<number, PooledWorker> {
  return new Map(workers).set(id, worker)
}
