import { array, assert, boolean, constantFrom, integer, oneof, property, record } from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import {
  advancePrefetching,
  BUDGET,
  BUDGET_MS,
  MAX_ROUTES,
  MAX_SEGMENTS,
  nextWake,
  NO_PREFETCHES,
  reducePrefetching,
  REQUEST_COST,
  type PrefetchEvent,
} from '../../../src/client/core/prefetch/prefetch-scheduler.ts'

const NOW = 1000
const MOST_REQUESTS = 30

describe('a thousand links at once', () => {
  afterEach(() => {
    vi.restoreAllMocks()
  })

  /** Members of maps and sets that are written or walked while so many links are added one by one. */
  function stepsFor(links: number): number {
    const count = { steps: 0 }
    const { set } = Map.prototype
    const { add } = Set.prototype
    vi.spyOn(Map.prototype, 'set').mockImplementation(function (this: Map<unknown, unknown>, key, value) {
      count.steps += 1
      return set.call(this, key, value)
    })
    vi.spyOn(Set.prototype, 'add').mockImplementation(function (this: Set<unknown>, value) {
      count.steps += 1
      return add.call(this, value)
    })
    for (const prototype of [Map.prototype, Set.prototype] as const) {
      const walk = prototype[Symbol.iterator] as () => IterableIterator<unknown>
      vi.spyOn(prototype as Set<unknown>, Symbol.iterator).mockImplementation(function* (this: Set<unknown>) {
        for (let walked = walk.call(this), item = walked.next(); !item.done; item = walked.next()) {
          count.steps += 1
          yield item.value
        }
        return undefined
      })
    }
    let state = NO_PREFETCHES
    for (let index = 0; index < links; index += 1) {
      state = reducePrefetching(state, { type: 'add', target: `/${index}`, priority: 'viewport', now: NOW })
      state = advancePrefetching(state, NOW, () => 1)
    }
    vi.restoreAllMocks()
    expect(state.jobs.size).toBe(links)
    return count.steps
  }

  test('cost twice as much as five hundred', () => {
    const half = stepsFor(500)
    expect(half).toBeGreaterThan(500)
    expect(stepsFor(1000) / half).toBeLessThan(2.1)
    expect(stepsFor(1000)).toBeLessThan(20 * 1000)
  })
})

describe('any history', () => {
  const target = constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j')
  const priority = constantFrom('viewport', 'render', 'intent')
  const step = constantFrom(0, 1, 4000)
  const happening = oneof(
    { weight: 6, arbitrary: record({ type: constantFrom('add'), target, priority, step }) },
    { weight: 2, arbitrary: record({ type: constantFrom('settle'), target, failed: boolean(), step }) },
    { weight: 1, arbitrary: record({ type: constantFrom('cancel'), target, step }) },
    { weight: 1, arbitrary: record({ type: constantFrom('pause'), for: integer({ min: 0, max: 5000 }), step }) },
  )
  const sizes = array(integer({ min: 0, max: 5 }), { minLength: 10, maxLength: 10 })

  test('keeps its limits, starts all it may, and leaves no trace of what is over', () => {
    assert(
      property(sizes, array(happening, { maxLength: 150 }), (segments, list) => {
        const segmentsOf = (name: string) => segments[name.charCodeAt(0) - 97] ?? 0
        let now = NOW
        let state = NO_PREFETCHES
        const started: { readonly at: number; readonly wish: string }[] = []
        for (const happened of list) {
          now += happened.step
          if (happened.type === 'pause') state = reducePrefetching(state, { ...happened, until: now + happened.for })
          else if (happened.type === 'cancel') state = reducePrefetching(state, happened)
          else state = reducePrefetching(state, { ...happened, now, cost: 0 } as PrefetchEvent)
          const before = { state, jobs: [...state.jobs.values()] }
          state = advancePrefetching(state, now, segmentsOf)

          const jobs = [...state.jobs.values()]
          for (const { target, phase, priority: wish, segments } of jobs) {
            const former = before.jobs.find((job) => job.target === target)?.phase
            if (phase === 'fetching' && former !== 'fetching' && segments > 0) started.push({ at: now, wish })
          }
          const lately = started.filter(({ at }) => at > now - BUDGET_MS)
          // Only who points at a link goes beyond the budget.
          const beyond = lately.slice(MOST_REQUESTS).filter(({ at }) => at === now)
          for (const { wish } of beyond) expect(wish).toBe('intent')
          const active = jobs.filter((job) => job.phase !== 'queued')
          const limited = active.filter((job) => !job.extra)
          const used = limited.filter((job) => job.segments > 0)
          const slots = used.reduce((sum, job) => sum + job.segments, 0)
          const extra = active.filter((job) => job.extra)
          expect(limited.length).toBeLessThanOrEqual(MAX_ROUTES)
          expect(slots <= MAX_SEGMENTS || used.length === 1).toBe(true)
          expect(extra.length).toBeLessThanOrEqual(1)
          for (const job of extra) expect(job.priority).toBe('intent')
          expect(jobs.every((job) => job.phase === 'fetching' || job.segments === 0)).toBe(true)

          // Lists and jobs tell the same story.
          expect([...state.active].toSorted()).toEqual(active.map((job) => job.target).toSorted())
          const queued = jobs.filter((job) => job.phase === 'queued')
          for (const [name, queue] of Object.entries(state.queues)) {
            const own = queued.filter((job) => job.priority === name).map((job) => job.target)
            expect([...queue].toSorted()).toEqual(own.toSorted())
          }
          for (const blocked of state.blocked.keys()) expect(state.jobs.has(blocked)).toBe(false)

          if (now < state.pausedUntil) {
            expect(state).toBe(before.state)
            if (jobs.length > 0) expect(nextWake(state)).toBe(state.pausedUntil)
            continue
          }
          const [[oldest] = []] = state.spent
          expect(nextWake(state)).toBe(queued.length > 0 && oldest !== undefined ? oldest + BUDGET_MS : undefined)
          const promised = active.filter((job) => job.phase === 'started').length * REQUEST_COST
          const isSpent = state.spent.reduce((sum, [, cost]) => sum + cost, promised) >= BUDGET
          expect(advancePrefetching(state, now, segmentsOf)).toBe(state)
          if (state === before.state) expect(jobs).toEqual(before.jobs)
          if (queued.length > 0 && !isSpent) expect(limited.length).toBe(MAX_ROUTES)
          const eager = jobs.filter((job) => job.priority === 'intent' && job.phase !== 'fetching')
          if (eager.length > 0) expect(extra).toHaveLength(1)
          const waiting = active.filter((job) => job.phase === 'started')
          expect(waiting.every((job) => segmentsOf(job.target) > 0)).toBe(true)
          if (waiting.length > 0) expect(slots).toBeGreaterThan(0)
        }
      }),
      { numRuns: 500 },
    )
    expect(NO_PREFETCHES.jobs.size).toBe(0)
  })
})
