import { expect, test } from 'vitest'
import { createReportBudget } from '../../../src/server/reports/delivery/report-budget.ts'

test('a burst is taken, then so many a second, and what was too much is told once', () => {
  const budget = createReportBudget(2, 5)
  const taken = (now: number, tries: number): number =>
    Array.from({ length: tries }, () => budget.take(now)).filter(Boolean).length
  expect(taken(0, 10)).toBe(5)
  expect(budget.refused()).toBe(5)
  expect(budget.refused()).toBe(0)
  expect(taken(499, 10)).toBe(0)
  expect(taken(500, 10)).toBe(1)
  expect(taken(3_600_000, 10)).toBe(5)
})

test('a clock that goes back gives nothing away', () => {
  const budget = createReportBudget(1, 1)
  expect(budget.take(10_000)).toBe(true)
  expect(budget.take(0)).toBe(false)
  expect(budget.take(999)).toBe(false)
  expect(budget.take(1_000)).toBe(true)
})
