import { describe, expect, test } from 'vitest'
import { createRateLimitState, readRateLimits } from '../../../src/server/reports/delivery/rate-limit-state.ts'
import type { UpstreamAnswer } from '../../../src/server/reports/delivery/upstream.ts'

const NOW = 1_000_000_000_000

function seconds(answer: Partial<UpstreamAnswer>): Record<string, number> {
  const limits = readRateLimits({ kind: 'answered', status: 200, ...answer }, NOW)
  return Object.fromEntries([...limits].map(([category, { until }]) => [category, (until - NOW) / 1_000]))
}

describe('the service is understood', () => {
  test.for([
    ['one category', { rateLimits: '60:error:organization' }, { error: 60 }],
    ['several', { rateLimits: '60:error;transaction:key:quota' }, { error: 60, transaction: 60 }],
    [
      'several groups',
      { rateLimits: '60:error:key, 2700:span;log_item:project' },
      { error: 60, span: 2_700, log_item: 2_700 },
    ],
    ['all categories', { rateLimits: '30::organization' }, { '': 30 }],
    ['only a time', { rateLimits: '30' }, { '': 30 }],
    ['the longer of two', { rateLimits: '10:error:key, 60:error:organization, 20:error:project' }, { error: 60 }],
    ['broken seconds', { rateLimits: '1.2:error:key' }, { error: 2 }],
    ['no number', { rateLimits: 'soon:error:key' }, { error: 60 }],
    ['names that are none', { rateLimits: '60:er ror;E!:key' }, {}],
    ['more than a day', { rateLimits: '999999999:error:key' }, { error: 86_400 }],
    ['Retry-After', { status: 429, retryAfter: '7' }, { '': 7 }],
    ['Retry-After of a service that fails', { status: 503, retryAfter: '7' }, {}],
    ['Retry-After with a refusal', { status: 403, retryAfter: '7' }, {}],
    ['limits of a service that fails', { status: 503, rateLimits: '7:error:key' }, { error: 7 }],
    ['a date', { status: 429, retryAfter: new Date(NOW + 90_000).toUTCString() }, { '': 90 }],
    ['a date that is over', { status: 429, retryAfter: new Date(NOW - 90_000).toUTCString() }, { '': 0 }],
    ['no date', { status: 429, retryAfter: 'later' }, { '': 60 }],
    ['both headers: the finer one counts', { rateLimits: '5:error:key', retryAfter: '70' }, { error: 5 }],
    ['429 and nothing else', { status: 429 }, { '': 60 }],
    ['nothing', {}, {}],
    ['an empty header', { rateLimits: '' }, {}],
  ] as const)('%s', ([, answer, limits]) => {
    expect(seconds(answer)).toEqual(limits)
  })
})

test('a limit holds for its category until its time is over', () => {
  const state = createRateLimitState()
  state.update({ kind: 'answered', status: 200, rateLimits: '60:error:key' }, NOW)
  expect(state.limitedUntil('error', NOW)).toBe(NOW + 60_000)
  expect(state.limitedUntil('error', NOW + 59_999)).toBe(NOW + 60_000)
  expect(state.limitedUntil('error', NOW + 60_000)).toBe(0)
  expect(state.limitedUntil('session', NOW)).toBe(0)
})

test('a limit of all categories holds for each, and an answer without limits lifts none', () => {
  const state = createRateLimitState()
  state.update({ kind: 'answered', status: 429, rateLimits: '60::key, 120:error:key' }, NOW)
  state.update({ kind: 'answered', status: 200 }, NOW)
  state.update({ kind: 'unreachable' }, NOW)
  expect(state.limitedUntil('session', NOW)).toBe(NOW + 60_000)
  expect(state.limitedUntil('error', NOW)).toBe(NOW + 120_000)
})

test('limits are passed on with the time that is left', () => {
  const state = createRateLimitState()
  expect(state.headers(NOW)).toEqual([])
  state.update(
    { kind: 'answered', status: 429, rateLimits: '60:error;span:organization, 10:session:key', retryAfter: '20' },
    NOW,
  )
  expect(state.headers(NOW + 500)).toEqual([
    'X-Sentry-Rate-Limits',
    '60:error;span:organization, 10:session:key',
    'Retry-After',
    '20',
  ])
  expect(state.headers(NOW + 15_000)).toEqual([
    'X-Sentry-Rate-Limits',
    '45:error;span:organization',
    'Retry-After',
    '5',
  ])
  expect(state.headers(NOW + 30_000)).toEqual(['X-Sentry-Rate-Limits', '30:error;span:organization'])
  expect(state.headers(NOW + 60_000)).toEqual([])
})

test.for([
  ['60:error:key:quota_exceeded', '60:error:key:quota_exceeded'],
  ['60:metric_bucket:project:quota:custom;transactions', '60:metric_bucket:project:quota:custom;transactions'],
  ['60:error:key, 60:span:project, 60:session:key', '60:error;session:key, 60:span:project'],
  ['10:error:project, 60:error:key, 20:error:organization', '60:error:key'],
  ['60:error', '60:error:organization'],
  ['60::', '60::organization'],
  ['60:error:k\u00e9y', '60:error:organization'],
  ['60:error:a b\tc', '60:error:organization'],
  [`60:error:${'k'.repeat(1_000)}`, '60:error:organization'],
] as const)('for whom a limit holds, and why, is passed on: %s', ([rateLimits, passedOn]) => {
  const state = createRateLimitState()
  state.update({ kind: 'answered', status: 429, rateLimits }, NOW)
  expect(state.headers(NOW)).toEqual(['X-Sentry-Rate-Limits', passedOn])
})

test('a wish of our own stands in both headers, beside those of the service', () => {
  const state = createRateLimitState()
  expect(state.headers(NOW, 3)).toEqual(['X-Sentry-Rate-Limits', '3::key', 'Retry-After', '3'])
  state.update({ kind: 'answered', status: 429, rateLimits: '60:error:key', retryAfter: '60' }, NOW)
  expect(state.headers(NOW, 3)).toEqual(['X-Sentry-Rate-Limits', '3::key, 60:error:key', 'Retry-After', '60'])
})

test('when a service that fails may be tried again is not passed on', () => {
  const state = createRateLimitState()
  state.update({ kind: 'answered', status: 503, retryAfter: '600' }, NOW)
  expect(state.headers(NOW)).toEqual([])
})

test('a service that invents categories without end takes bounded memory', () => {
  const state = createRateLimitState()
  for (let at = 0; at < 10_000; at += 1) {
    const name = [...String(at)].map((digit) => 'abcdefghij'[Number(digit)]).join('')
    state.update({ kind: 'answered', status: 200, rateLimits: `60:${name}:key` }, NOW)
  }
  expect((state.headers(NOW)[1] ?? '').length).toBeLessThan(1_000)
})
