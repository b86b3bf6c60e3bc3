import { expect, test } from 'vitest'
import { createSteadyClock } from '../../../src/client/core/steady-clock.ts'
import { advancePrefetching, NO_PREFETCHES, reducePrefetching } from '../../../src/client/core/prefetch-scheduler.ts'
import { entryState } from '../../../src/client/core/route-cache.ts'

const HOUR_MS = 3_600_000

test('a clock that is set back goes on from where it was, each time', () => {
  const wall = { at: 10 * HOUR_MS }
  const now = createSteadyClock(() => wall.at)
  const since = now()
  const elapsed = [-HOUR_MS, 5, 5, -1, 20, HOUR_MS].map((step) => {
    wall.at += step
    return now() - since
  })
  expect(elapsed).toEqual([0, 5, 10, 10, 30, HOUR_MS + 30])
})

test('an hour back makes no pause longer, and no data younger', () => {
  const wall = { at: 10 * HOUR_MS }
  const now = createSteadyClock(() => wall.at)
  const entry = { receivedAt: now(), lifetimeMs: 60_000, shown: false }
  const pause = reducePrefetching(NO_PREFETCHES, { type: 'pause', until: now() + 5_000 })
  const paused = reducePrefetching(pause, { type: 'add', target: '/a', priority: 'intent', now: now() })
  wall.at -= HOUR_MS
  now()
  wall.at += 5_000
  expect(advancePrefetching(paused, now(), () => 1).active.has('/a')).toBe(true)
  wall.at += 56_000
  expect(entryState(entry, now())).toBe('stale')
})
