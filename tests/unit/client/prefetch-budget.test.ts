import { describe, expect, test } from 'vitest'
import { BUDGET, BUDGET_MS, nextWake, REQUEST_COST } from '../../../src/client/core/prefetch/prefetch-scheduler.ts'
import { inPhase, NOW, scheduler } from './prefetch-world.ts'

describe('the budget of a minute', () => {
  const targets = Array.from({ length: 40 }, (_, index) => `/${index}`)

  /** Lets all start that may, and ends each at once. */
  function run({ advance, owner, settle }: ReturnType<typeof scheduler>): void {
    do {
      advance()
      for (const target of inPhase(owner.state, 'fetching')) settle(target)
    } while (advance().some((job) => job.includes('fetching')))
  }

  test('is thirty requests of links that nobody points at, in any minute', () => {
    const it = scheduler()
    for (const target of targets.slice(0, 20)) it.add(target)
    run(it)
    it.owner.now += 30_000
    for (const target of targets.slice(20)) it.add(target)
    run(it)
    expect(it.owner.state.jobs.size).toBe(10)
    expect(nextWake(it.owner.state)).toBe(NOW + BUDGET_MS)
    it.owner.now = NOW + BUDGET_MS - 1
    run(it)
    expect(it.owner.state.jobs.size).toBe(10)
    it.owner.now += 1
    run(it)
    expect(it.owner.state.jobs.size).toBe(0)
    expect(nextWake(it.owner.state)).toBeUndefined()
  })

  test('does not hold back what a visitor points at, also of those that wait', () => {
    const it = scheduler()
    for (const target of targets) it.add(target)
    run(it)
    expect(it.owner.state.jobs.size).toBe(10)
    it.add('/39', 'intent')
    expect(it.advance()).toContain('/39:fetching 1')
  })

  test('is a million characters, too', () => {
    const it = scheduler()
    it.add('a')
    it.advance()
    it.owner.now += 5
    it.settle('a', false, BUDGET - 2 * REQUEST_COST)
    it.add('b')
    expect(it.advance()).toEqual(['b:fetching 1'])
    it.settle('b')
    it.add('c')
    expect(it.advance()).toEqual(['c:queued'])
    it.owner.now = NOW + BUDGET_MS
    expect(it.advance()).toEqual(['c:fetching 1'])
  })

  test('is not spent by what needs no request', () => {
    const it = scheduler(Object.fromEntries(targets.map((target) => [target, 0])))
    for (const target of targets) it.add(target)
    run(it)
    expect(it.owner.state.jobs.size).toBe(0)
  })
})
