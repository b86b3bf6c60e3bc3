import { expect, test } from 'vitest'
import { seededRandom } from '../../../scripts/seeded-random.ts'
import { median, slope } from '../../bench/statistics.ts'

test('the median is the middle one, or between the middle two', () => {
  expect(median([9, 1, 5])).toBe(5)
  expect(median([4, 1, 2, 100])).toBe(3)
  expect(() => median([])).toThrow(RangeError)
})

test('the slope is growth for one more step, whatever the level', () => {
  const line = [0, 20, 40, 60].map((x) => ({ x, y: 1_000_000 + 3 * x }))
  expect(slope(line)).toBeCloseTo(3)
  expect(slope(line.map(({ x }) => ({ x, y: 7 })))).toBe(0)
  expect(() => slope([{ x: 1, y: 1 }])).toThrow(RangeError)
})

test('the same seed gives the same load, spread over the whole range', () => {
  const draw = (seed: number): number[] => Array.from({ length: 1000 }, seededRandom(seed))
  expect(draw(1)).toEqual(draw(1))
  expect(draw(1)).not.toEqual(draw(2))
  const shares = [0, 0.25, 0.5, 0.75].map((from) => draw(1).filter((x) => x >= from && x < from + 0.25).length)
  for (const share of shares) expect(share).toBeGreaterThan(200)
})
