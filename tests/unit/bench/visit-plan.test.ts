import { describe, expect, test } from 'vitest'
import { planRound, VISITS_PER_ROUND } from '../../bench/visit-plan.ts'
import type { Visit } from '../../bench/visit-plan.ts'

const ROUNDS = 30
const all: readonly Visit[] = Array.from({ length: ROUNDS }, (_, round) => planRound(round)).flat()

/** Follows the visits as a browser's history does. */
function walk(
  visits: readonly Visit[],
): readonly { readonly visit: Visit; readonly shown: string; readonly from: string }[] {
  const stack = ['/start']
  return visits.map((visit) => {
    const from = stack.at(-1) ?? ''
    if (visit.how === 'back') stack.pop()
    else stack.push(visit.path)
    return { visit, shown: stack.at(-1) ?? '', from }
  })
}

describe('the visits of the search for leaks', () => {
  test('come to where they say, steps back included', () => {
    expect(all).toHaveLength(ROUNDS * VISITS_PER_ROUND)
    for (const { visit, shown } of walk(all)) expect(shown).toBe(visit.path)
  })

  test('always lead to another page: the same one would be a reload of its data', () => {
    for (const { visit, from } of walk(all)) expect(visit.path).not.toBe(from)
  })

  test('see pages that never were seen before, in every round, so that caches must let go', () => {
    const paths = all.flatMap(({ path, first }) => [path, first ?? []].flat())
    for (let round = 1; round < ROUNDS; round += 1) {
      const before = paths.slice(0, paths.indexOf(`/lab/cache/unseen-${round}`))
      const here = planRound(round).flatMap(({ path, first }) => [path, first ?? []].flat())
      const fresh = new Set(here.filter((path) => !before.includes(path)))
      expect(fresh.size).toBeGreaterThanOrEqual(3)
    }
  })
})
