import { expect, test } from 'vitest'
import { TargetIndex } from '../../../src/server/routes/resources/target-index.ts'
import { namedTargets } from '../../../src/server/stores/cache/revalidation-targets.ts'

/** The definition, by looking at each pair. */
function isDropped(target: string, dropped: readonly string[]): boolean {
  const isBelow = (path: string, subtree: string): boolean =>
    subtree.endsWith('/*') && `${path}/`.startsWith(subtree.slice(0, -1))
  return dropped.some((other) => {
    if (other === target) return true
    if (!other.startsWith('/') || !target.startsWith('/')) return false
    return isBelow(target, other) || isBelow(other, target)
  })
}

/** Paths, subtrees and tags of few and similar segments, so that many lie in others. */
function randomTargets(random: (below: number) => number): readonly string[] {
  const SEGMENTS = ['a', 'ab', 'a-b', 'b', '%2A', 'ü']
  const names = Array.from({ length: random(6) }, () => {
    const depth = random(4)
    const path = Array.from({ length: depth }, () => `/${SEGMENTS[random(SEGMENTS.length)]}`).join('')
    return [path || '/', `${path}/*`, SEGMENTS[random(SEGMENTS.length)] ?? ''][random(3)] ?? ''
  })
  return namedTargets(names)
}

test('finds what each of 20,000 drops concerns, as a look at all pairs does', () => {
  let state = 7
  const random = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return (state >> 8) % below
  }
  let found = 0
  for (let round = 0; round < 2_000; round += 1) {
    const index = new TargetIndex<number>()
    const items = Array.from({ length: 8 }, () => randomTargets(random))
    for (const [item, targets] of items.entries()) for (const target of targets) index.add(target, item)
    for (const target of items[0] ?? []) index.remove(target, 0)
    items[0] = []
    for (let drop = 0; drop < 10; drop += 1) {
      const dropped = randomTargets(random)
      const expected = items.flatMap((targets, item) => {
        const own = targets.filter((target) => isDropped(target, dropped)).toSorted()
        return own.length === 0 ? [] : [[item, own] as const]
      })
      const concerned = [...index.concerned(dropped)].map(([item, own]) => [item, [...own].toSorted()] as const)
      expect(concerned.toSorted(([one], [other]) => one - other)).toEqual(expected)
      found += expected.length
    }
  }
  expect(found).toBeGreaterThan(20_000)
})
