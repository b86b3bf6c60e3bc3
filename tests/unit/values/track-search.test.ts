import { expect, test } from 'vitest'
import { holdsSearch } from '../../../src/server/values/track-search.ts'

const SEARCH = Object.freeze({ tab: 'log' })

test.for<[string, unknown, boolean]>([
  ['themselves', SEARCH, true],
  ['in a list', [1, [SEARCH]], true],
  ['in a member', { a: { b: SEARCH } }, true],
  ['in a set', new Set([SEARCH]), true],
  ['a key of a map', new Map([[SEARCH, 1]]), true],
  ['a value of a map', new Map([[1, { SEARCH }]]), true],
  ['an equal object', { ...SEARCH }, false],
  ['nothing', null, false],
])('whoever has the search params, %s, has all of them', ([, value, holds]) => {
  expect(holdsSearch(value, SEARCH)).toBe(holds)
})

test('a value that leads to itself is looked at once', () => {
  const circle: unknown[] = []
  circle.push(circle)
  expect(holdsSearch(circle, SEARCH)).toBe(false)
})

// More than a call takes as arguments.
const many = Array.from({ length: 1_000_000 }, (_, at) => at)

test.for<[string, unknown]>([
  ['list', many],
  ['set', new Set(many)],
  ['map', new Map(many.map((at) => [at, at]))],
  ['object', Object.fromEntries(many.map((at) => [at, at]))],
])('a %s may have a million members', ([, value]) => {
  expect(holdsSearch([value, SEARCH], SEARCH)).toBe(true)
  expect(holdsSearch([SEARCH, value], SEARCH)).toBe(true)
})
