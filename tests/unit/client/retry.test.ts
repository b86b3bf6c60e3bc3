import { assert, double, integer, property, string } from 'fast-check'
import { expect, test, vi } from 'vitest'
import { MAX_RETRIES, MAX_RETRY_AFTER_MS, parseRetryAfter, retryDelay } from '../../../src/client/core/retry.ts'

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5)

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

test.each([
  ['0', 0],
  ['1', 1000],
  ['007', 7000],
  ['120', 120_000],
  ['Fri, 02 Jan 2026 03:04:15 GMT', 10_000],
  ['Friday, 02-Jan-26 03:04:15 GMT', 10_000],
  ['Fri Jan  2 03:04:15 2026', 10_000],
  ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
])('Retry-After: %s is %i ms from now', (header, delay) => {
  vi.stubEnv('TZ', 'America/New_York') // the form without a zone is not local time
  expect(parseRetryAfter(header, NOW)).toBe(delay)
})

test.each([
  null,
  '',
  ' ',
  '-1',
  '+1',
  '1.5',
  '1e3',
  '0x10',
  '٣',
  'soon',
  '1 2',
  '10, 20',
  '2026-01-02',
  '2026-01-02T03:04:15Z',
  'Fri, 02 Jan 2026',
  'Fri, 02 Jan 2026 03:04:15 PST',
  'Fri, 02 Jan 2026 03:04:15 +0100',
  'Fri, 99 Foo 2026 03:04:15 GMT',
  'Fri, 02 Jan 2026 99:04:15 GMT',
  'GMT',
])('Retry-After: %j says nothing', (header) => {
  expect(parseRetryAfter(header, NOW)).toBeUndefined()
})

test.each(['9'.repeat(10), '9'.repeat(400), 'Fri, 02 Jan 9999 03:04:15 GMT'])(
  'Retry-After: %s is no more than a timer can count',
  (header) => {
    expect(parseRetryAfter(header, NOW)).toBe(2 ** 31 - 1)
  },
)

test('every date that a browser writes is read to the second', () => {
  assert(
    property(integer({ min: 0, max: 1_000_000 }), (seconds) => {
      const header = new Date(NOW + seconds * 1000).toUTCString()
      expect(parseRetryAfter(header, NOW)).toBe(seconds * 1000)
    }),
  )
})

test('no text makes it throw, or wait for a time that is none', () => {
  assert(
    property(string(), (header) => {
      const delay = parseRetryAfter(header, NOW)
      expect(delay === undefined || (delay >= 0 && delay < 2 ** 31)).toBe(true)
    }),
  )
})
