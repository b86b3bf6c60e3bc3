import { expect, test } from 'vitest'
import { DropTimes } from '../../../src/server/stores/cache/drop-times.ts'

function timesAt(start: number, most?: number) {
  const clock = { now: start }
  return { clock, times: new DropTimes(() => clock.now, most) }
}

test('each drop is later than the one before, also where the clock stands still or goes back', () => {
  const { clock, times } = timesAt(1_000)
  expect(times.last).toBe(1_000_000)
  expect([times.note(['a']), times.note(['b'])]).toEqual([1_000_001, 1_000_002])
  clock.now = 500
  expect(times.note(['a'])).toBe(1_000_003)
  clock.now = 2_000
  expect(times.note(['a'])).toBe(2_000_000)
  expect(times.last).toBe(2_000_000)
})

test('what was never dropped may have been before the process has started', () => {
  const { times } = timesAt(1)
  times.note(['other'])
  expect(times.of('tag')).toBe(1_000)
})

test.for([
  [['tag'], 'tag', true],
  [['tag'], 'tags', false],
  [['/mills/7'], '/mills/7/', true],
  [['/mills/*'], '/mills/7', true],
  [['/*'], '/mills/7', true],
  [['/mills/7'], '/mills/*', true],
  [['/mills'], '/mills/*', true],
  [['/millstones'], '/mills/*', false],
  [['/mills/8'], '/mills/7', false],
  [undefined, 'tag', true],
] as const)('a drop of %j is one of %s: %j', ([dropped, target, isDropped]) => {
  const { times } = timesAt(1)
  const at = times.note(dropped)
  expect(times.of(target) === at).toBe(isDropped)
})

test('beyond the bound, what was dropped longest ago counts as dropped with the last that is forgotten', () => {
  const { times } = timesAt(1, 2)
  times.note(['a'])
  const b = times.note(['b'])
  const a = times.note(['a'])
  times.note(['c'])
  expect([times.of('a'), times.of('b'), times.of('unknown')]).toEqual([a, b, b])
  times.note(['d'])
  expect([times.of('a'), times.of('b'), times.of('unknown')]).toEqual([a, a, a])
})
