import { describe, expect, test } from 'vitest'
import { reportableEvent } from '../../../src/shared/reports/reportable-event.ts'
import { isReportableSpan, PREFETCH_ATTRIBUTE, reportableSpans } from '../../../src/shared/reports/reportable-spans.ts'

const RELAY = '/left/here'

function transaction(trace: object, rest: object = {}): object {
  return { type: 'transaction', transaction: 'GET /mills/[id]', contexts: { trace }, ...rest }
}

describe('transactions that are never reported', () => {
  test.for([
    ['not found by status', transaction({ status: 'not_found' })],
    ['forbidden by status', transaction({ status: 'permission_denied' })],
    ['unauthorized by status', transaction({ status: 'unauthenticated' })],
    ['given up by status', transaction({ status: 'cancelled' })],
    ['a redirect by code', transaction({ data: { 'http.response.status_code': 307 } })],
    ['a redirect by a code that is a text', transaction({ data: { 'http.status_code': '308' } })],
    ['a redirect by a tag', transaction({ status: 'ok' }, { tags: { 'http.status_code': '302' } })],
    ['not found by a tag in a list', transaction({ status: 'ok' }, { tags: [['http.status_code', '404']] })],
    ['not found by the response', transaction({ status: 'ok' }, { contexts: { response: { status_code: 404 } } })],
    ['health', transaction({}, { transaction: 'GET /healthz' })],
    ['readiness', transaction({}, { transaction: '/readyz' })],
    ['an asset', transaction({}, { transaction: 'GET /_m/assets/*' })],
    ['an asset by its URL', transaction({ data: { 'url.full': 'https://a.test/_m/assets/x.js?y' } })],
    ['the relay', transaction({}, { transaction: 'POST /_m/reports/01234567' })],
    ['the relay elsewhere', transaction({}, { transaction: 'POST /left/here' })],
    ['a prefetch', transaction({ data: { [PREFETCH_ATTRIBUTE]: true } })],
    ['a prefetch by its header', transaction({}, { request: { headers: { 'Sec-Purpose': 'prefetch;prerender' } } })],
  ] as const)('%s', ([, event]) => {
    expect(reportableEvent(event, RELAY)).toBeUndefined()
  })
})

describe('transactions that are reported', () => {
  test.for([
    ['a page', transaction({ status: 'ok', data: { 'http.response.status_code': 200 } })],
    ['a page that was known already', transaction({ data: { 'http.response.status_code': 304 } })],
    ['a page by its tag', transaction({ status: 'ok' }, { tags: { 'http.status_code': '200' } })],
    ['tags that are none', transaction({ status: 'ok' }, { tags: 'http.status_code' })],
    ['a failure', transaction({ status: 'internal_error', data: { 'http.response.status_code': 500 } })],
    ['route data', transaction({}, { transaction: 'GET /_m/data/mills' })],
    ['a page that is called like a path of ours', transaction({}, { transaction: 'GET /healthz/more' })],
    ['a page below the relay', transaction({}, { transaction: 'GET /left/here/too' })],
    ['one without anything', { type: 'transaction' }],
    ['one of other types', { type: 'transaction', contexts: 7, spans: {}, request: [], transaction: 1 }],
  ] as const)('%s', ([, event]) => {
    expect(reportableEvent(event, RELAY)).toBe(event)
  })
})

test('a transaction loses the spans that are never reported, and what was inside of them moves up', () => {
  const spans = [
    { span_id: 'a', parent_span_id: 'root', status: 'ok' },
    { span_id: 'b', parent_span_id: 'a', status: 'not_found' },
    { span_id: 'c', parent_span_id: 'b', data: { 'http.response.status_code': 303 } },
    { span_id: 'd', parent_span_id: 'c' },
    { span_id: 'e', parent_span_id: 'd' },
  ]
  const event = transaction({ status: 'ok' }, { spans })
  expect(reportableEvent(event)).toEqual({
    ...event,
    spans: [
      { span_id: 'a', parent_span_id: 'root', status: 'ok' },
      { span_id: 'd', parent_span_id: 'a' },
      { span_id: 'e', parent_span_id: 'd' },
    ],
  })
  expect((event as { spans: unknown }).spans).toBe(spans)
})

test('spans that lead in a circle end nowhere and hang nobody', () => {
  const spans = [
    { span_id: 'a', parent_span_id: 'b', status: 'not_found' },
    { span_id: 'b', parent_span_id: 'a', status: 'not_found' },
    { span_id: 'c', parent_span_id: 'a' },
  ]
  expect(reportableSpans(spans)).toHaveLength(1)
})

test('spans that hang from a long row of those that are left out find the one that stays, each of them', () => {
  const COUNT = 50_000 // a step for each of them for each of the others would take minutes
  const row = Array.from({ length: COUNT }, (_, at) => ({
    span_id: `a${at}`,
    parent_span_id: at + 1 < COUNT ? `a${at + 1}` : 'root',
    status: 'cancelled',
  }))
  const circle = row.map(({ span_id, status }, at) => ({
    span_id: span_id.replace('a', 'b'),
    parent_span_id: `b${(at + 1) % COUNT}`,
    status,
  }))
  const hanging = row.flatMap(() => [{ parent_span_id: 'a0' }, { parent_span_id: 'b0' }])
  const kept = reportableSpans([...row, ...circle, ...hanging])
  const parents = new Set(kept.map((span) => (span as { parent_span_id: unknown }).parent_span_id))
  expect([kept.length, parents]).toEqual([2 * COUNT, new Set(['root', undefined])])
})

describe('what can be made no text of is no status and no purpose', () => {
  const deep: unknown = JSON.parse('['.repeat(20_000) + ']'.repeat(20_000))
  const values = [{ toString: 1, valueOf: 1 }, { toString: null }, deep, [deep], [null], [404], true, null]
  test.for(['http.response.status_code', 'http.request.header.sec-purpose', 'status', 'url.path', 'http.route'])(
    '%s',
    (name) => {
      for (const value of values) {
        const data = { [name]: value }
        for (const event of [
          transaction({ data }),
          transaction({}, { contexts: { response: { status_code: value } }, tags: { 'http.status_code': value } }),
          transaction({}, { request: { headers: { 'Sec-Purpose': value }, url: value } }),
        ]) {
          expect(reportableEvent(event, RELAY)).toBe(event)
        }
        expect(isReportableSpan({ name: value, data }, RELAY)).toBe(true)
        expect(isReportableSpan({ attributes: { [name]: { value } } }, RELAY)).toBe(true)
      }
    },
  )
})

describe('spans sent by themselves', () => {
  const span = (attributes: object, rest: object = {}): object => ({
    name: 'GET /mills/[id]',
    span_id: 'x',
    status: 'error',
    attributes: Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, { type: 'any', value }])),
    ...rest,
  })
  test.for([
    ['not found by code', span({ 'http.response.status_code': 404 })],
    ['not found by name', span({ 'sentry.status.message': 'not_found' })],
    ['a redirect', span({ 'http.response.status_code': 302 })],
    ['a redirect by a tag', span({}, { tags: { 'http.status_code': '302' } })],
    ['an asset', span({ 'url.path': '/_m/assets/x.css' })],
    ['a prefetch', span({ 'http.request.header.sec-purpose': ['prefetch'] })],
    ['the relay', span({}, { name: 'POST /left/here' })],
  ] as const)('%s', ([, given]) => {
    expect(isReportableSpan(given, RELAY)).toBe(false)
  })

  test('an ordinary one is reported, and what is none passes', () => {
    expect(isReportableSpan(span({ 'http.response.status_code': 500 }), RELAY)).toBe(true)
    expect(isReportableSpan(7)).toBe(true)
    expect(isReportableSpan({ attributes: 7, data: 7 })).toBe(true)
  })

  test('a segment takes its spans along, and leaves those of others', () => {
    const segment = span({ 'http.response.status_code': 404 }, { span_id: 's', is_segment: true })
    const inside = span({ 'sentry.segment.id': 's' }, { span_id: 'i' })
    const outside = span({ 'sentry.segment.id': 'o' }, { span_id: 'j' })
    expect(reportableSpans([inside, segment, outside, 7])).toEqual([outside, 7])
  })

  test('spans of which all are reported stay the same list', () => {
    const spans = [span({}), span({ 'http.response.status_code': 200 })]
    expect(reportableSpans(spans)).toBe(spans)
  })
})
