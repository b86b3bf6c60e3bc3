import { expect, test } from 'vitest'
import { documentLifetime } from '../../../src/server/stores/cache/document-lifetime.ts'

test.for<readonly [string, number, number]>([
  ['public', 0, 300],
  ['public, max-age=60', 60, 300],
  ['Public, MAX-AGE="60"', 60, 300],
  ['public, max-age=60, s-maxage=10', 10, 300],
  ['s-maxage=10', 10, 300],
  ['public, max-age=60, stale-if-error=5', 60, 5],
  ['public, max-age=60, stale-while-revalidate=7', 60, 7],
  ['public, max-age=60, stale-while-revalidate=7, stale-if-error=0', 60, 0],
  ['public, max-age=60, must-revalidate', 60, 0],
  ['s-maxage=60, proxy-revalidate, stale-if-error=5', 60, 0],
  ['public, max-age=99999999999, stale-if-error=99999999999', 86_400, 86_400],
  ['public, max-age=never', 0, 300],
])('%s: fresh for %i s, then to be had for %i s', ([value, fresh, stale]) => {
  expect(documentLifetime(value)).toEqual({ freshMs: fresh * 1_000, staleMs: stale * 1_000 })
})

test.for([
  '',
  'max-age=60',
  'private, no-cache',
  'public, no-cache',
  'public, no-store',
  'public, private="x"',
  'no-store',
])('%s: to be made each time', (value) => {
  expect(documentLifetime(value)).toBeUndefined()
})
