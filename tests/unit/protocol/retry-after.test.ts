import { assert, integer, property, string } from 'fast-check'
import { expect, test, vi } from 'vitest'
import { parseRetryAfter } from '../../../src/shared/retry-after.ts'

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5)

test.each([
  ['0', 0],
  ['1', 1000],
  ['007', 7000],
  ['120', 120_000],
  [' 7 ', 7000],
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
  undefined,
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
