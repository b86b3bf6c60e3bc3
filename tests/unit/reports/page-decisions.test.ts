import { expect, test } from 'vitest'
import { createPageDecisions } from '../../../src/server/reports/sdk/page-decisions.ts'

test('a client decides as often as a visitor clicks, and takes nothing from others', () => {
  const decisions = createPageDecisions()
  const takes = (client: string, now: number): boolean[] =>
    Array.from({ length: 100 }, () => decisions.take(client, now))
  expect(takes('greedy', 0).filter(Boolean)).toHaveLength(20)
  expect(takes('greedy', 1_000).filter(Boolean)).toHaveLength(2)
  expect(takes('honest', 1_000).filter(Boolean)).toHaveLength(20)
})

test('so many clients are remembered and no more', () => {
  const decisions = createPageDecisions(2)
  const use = (client: string): boolean[] => Array.from({ length: 20 }, () => decisions.take(client, 0))
  for (const client of ['a', 'b', 'c']) expect(use(client).every(Boolean)).toBe(true)
  expect(decisions.take('c', 0)).toBe(false)
  expect(decisions.take('a', 0)).toBe(true)
})
