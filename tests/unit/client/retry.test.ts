import { assert, double, integer, property } from 'fast-check'
import { expect, test } from 'vitest'
import { MAX_RETRIES, MAX_RETRY_AFTER_MS, retryDelay } from '../../../src/client/core/data/retry.ts'

test.each([
  [0, 0, 225],
  [0, 0.5, 300],
  [0, 1, 375],
  [1, 0, 450],
  [1, 0.5, 600],
  [1, 1, 750],
  [2, 0, 900],
  [2, 0.5, 1200],
  [2, 1, 1500],
])('retry %i with random %d waits %d ms', (attempt, random, delay) => {
  expect(retryDelay(attempt, undefined, random)).toBeCloseTo(delay)
})

test('a request is retried three times, and no more', () => {
  expect(MAX_RETRIES).toBe(3)
  expect(retryDelay(2, undefined, 0.5)).toBeDefined()
  expect(retryDelay(3, undefined, 0.5)).toBeUndefined()
})

test.each([
  [0, 300],
  [299, 300],
  [301, 301],
  [5000, 5000],
  [MAX_RETRY_AFTER_MS, MAX_RETRY_AFTER_MS],
])('Retry-After of %i ms: waits %i ms, never less than the backoff', (asked, delay) => {
  expect(retryDelay(0, asked, 0.5)).toBe(delay)
})

test('a server that asks for more than 30 s is not asked again', () => {
  expect(retryDelay(0, MAX_RETRY_AFTER_MS + 1, 0.5)).toBeUndefined()
})

test('a delay is within a quarter of the doubled 300 ms for any random number', () => {
  assert(
    property(integer({ min: 0, max: 2 }), double({ min: 0, max: 1, noNaN: true }), (attempt, random) => {
      const ratio = (retryDelay(attempt, undefined, random) ?? NaN) / (300 * 2 ** attempt)
      expect(ratio).toBeGreaterThanOrEqual(0.75)
      expect(ratio).toBeLessThanOrEqual(1.25)
    }),
  )
})
