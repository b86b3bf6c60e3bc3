import { describe, expect, test } from 'vitest'
import {
  createPool,
  isComplete,
  MOST_FAILURES,
  nextStep,
  reducePool,
  YOUNG_MS,
  type PoolAction,
  type WorkerPool,
} from '../../../src/server/process/workers/worker-pool.ts'

const after = (pool: WorkerPool, ...actions: readonly PoolAction[]): WorkerPool => actions.reduce(reducePool, pool)
const started = (id: number, now = 0): PoolAction => ({ kind: 'started', id, now })
const ready = (id: number): PoolAction => ({ kind: 'ready', id })
const leaving = (id: number): PoolAction => ({ kind: 'leaving', id })
const died = (id: number, now: number, code: number | null = 1): PoolAction => ({ kind: 'died', id, code, now })
const STOP: PoolAction = { kind: 'stop' }

/** So many workers that serve, all started at 0. */
const serving = (count: number): WorkerPool =>
  Array.from({ length: count }, (_, index) => index + 1).reduce(
    (pool, id) => after(pool, started(id), ready(id)),
    createPool(count),
  )

describe('a start', () => {
  test('tries one worker, and the others once that one serves', () => {
    const pool = createPool(4)
    expect(nextStep(pool, 0)).toEqual({ kind: 'fork', count: 1 })
    const first = after(pool, started(1))
    expect(nextStep(first, 0)).toEqual({ kind: 'wait' })
    expect(nextStep(after(first, ready(1)), 0)).toEqual({ kind: 'fork', count: 3 })
  })

  test('is over when all serve', () => {
    const pool = after(createPool(2), started(1), ready(1), started(2))
    expect(isComplete(pool)).toBe(false)
    expect(isComplete(after(pool, ready(2)))).toBe(true)
  })

  test('that fails in the first worker ends with 1 and tries no other', () => {
    expect(nextStep(after(createPool(4), started(1), died(1, 50)), 50)).toEqual({ kind: 'end', code: 1 })
    // However long it took.
    expect(nextStep(after(createPool(4), started(1), died(1, YOUNG_MS * 9)), 0)).toEqual({ kind: 'end', code: 1 })
  })
})

describe('a worker that dies', () => {
  test('after a while is replaced at once', () => {
    const pool = after(serving(2), died(1, YOUNG_MS))
    expect(nextStep(pool, YOUNG_MS)).toEqual({ kind: 'fork', count: 1 })
  })

  test('young is replaced after 1 s, then 2, 4, up to 30 s', () => {
    let pool = serving(2)
    let now = 0
    let id = 2
    for (const wait of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
      pool = after(pool, died(id, now))
      expect(nextStep(pool, now)).toEqual({ kind: 'wait', until: now + wait })
      now += wait
      expect(nextStep(pool, now - 1).kind).toBe('wait')
      expect(nextStep(pool, now)).toEqual({ kind: 'fork', count: 1 })
      id += 1
      pool = after(pool, started(id, now))
    }
  })

  test('young long after another counts as the first', () => {
    let pool = after(serving(2), died(1, 0))
    pool = after(pool, started(3, 1_000), ready(3), started(4, 200_000), died(4, 200_001))
    expect(pool.failures).toBe(1)
  })

  test('while it takes nothing new any more, another is there before it is gone', () => {
    const pool = after(serving(2), leaving(1))
    expect(nextStep(pool, 5)).toEqual({ kind: 'fork', count: 1 })
    expect(nextStep(after(pool, started(3, 5), died(1, YOUNG_MS, 0)), YOUNG_MS)).toEqual({ kind: 'wait' })
  })

  test('and every other too, again and again: the end with 1, so that somebody else decides', () => {
    let pool = after(serving(1), died(1, 0))
    for (let death = 2; death < MOST_FAILURES; death += 1) pool = after(pool, started(death, death), died(death, death))
    expect(nextStep(pool, 1_000_000)).toEqual({ kind: 'fork', count: 1 })
    pool = after(pool, started(99, 99), died(99, 99))
    expect(nextStep(pool, 1_000_000)).toEqual({ kind: 'end', code: 1 })
  })

  test('again and again beside one that serves is tried for ever', () => {
    let pool = serving(2)
    pool = after(pool, died(2, 0))
    for (let death = 3; death < 40; death += 1) pool = after(pool, started(death, death), died(death, death))
    expect(nextStep(pool, 1_000_000)).toEqual({ kind: 'fork', count: 1 })
  })

  test('that nobody knows changes nothing', () => {
    const pool = serving(2)
    expect(after(pool, died(77, 0), ready(77), leaving(77))).toEqual(pool)
  })
})

describe('a stop', () => {
  test('starts nothing, and ends when all are gone: with 0 if all ended so', () => {
    const pool = after(serving(2), STOP, died(1, 5, 0))
    expect(nextStep(pool, 5)).toEqual({ kind: 'wait' })
    expect(nextStep(after(pool, died(2, 6, 0)), 6)).toEqual({ kind: 'end', code: 0 })
  })

  test.for([1, null])('ends with 1 where one ended with %j', (code) => {
    const pool = after(serving(2), STOP, died(1, 5, code), died(2, 6, 0))
    expect(nextStep(pool, 6)).toEqual({ kind: 'end', code: 1 })
  })

  test('before any was ready is no failed start', () => {
    expect(nextStep(after(createPool(2), started(1), STOP, died(1, 5, 0)), 5)).toEqual({ kind: 'end', code: 0 })
  })
})
