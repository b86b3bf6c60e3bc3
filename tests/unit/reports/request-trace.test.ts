import { describe, expect, test } from 'vitest'
import { beginTrace, traceTimings } from '../../../src/server/request/request-trace.ts'

const OPTIONS = { sampleRate: 0.5, publicKey: 'key', release: 'r1', environment: 'production', random: () => 0.25 }
const ID = '7f0c1d2e-0a1b-4c3d-8e4f-5a6b7c8d9e0f'
const OTHERS = `${'a'.repeat(32)}-${'b'.repeat(16)}`

const begin = (request: object, options: object = {}) =>
  beginTrace(
    { requestId: ID, trace: undefined, baggage: undefined, mayDecide: () => false, ...request },
    { ...OPTIONS, ...options },
  )
const OWN_PAGE = { mayDecide: () => true }

describe('a trace that begins here', () => {
  test.for([
    ['of this server', ID.replaceAll('-', '')],
    ['of a proxy, with dashes', ID],
  ])('has the id of its request: one %s', ([, requestId]) => {
    expect(begin({ requestId })).toMatchObject({ traceId: ID.replaceAll('-', ''), spanId: '8e4f5a6b7c8d9e0f' })
  })

  test('has ids of its own where a proxy has named the request', () => {
    const { traceId, spanId } = begin({ requestId: 'proxy.7' })
    expect(traceId).toMatch(/^[0-9a-f]{32}$/)
    expect(spanId).toMatch(/^[0-9a-f]{16}$/)
  })

  test.for([
    ['sampled', 0.5, 0.49, true],
    ['not sampled', 0.5, 0.5, false],
    ['undecided where nothing is sampled', 0, 0, undefined],
    ['sampled where everything is', 1, 0.999, true],
  ] as const)('is %s by chance', ([, sampleRate, drawn, sampled]) => {
    expect(begin({}, { sampleRate, random: () => drawn }).sampled).toBe(sampled)
  })
})

describe('a trace of somebody else', () => {
  test('goes on, as its sampling does where a page of this site has decided', () => {
    const asked = { trace: `${OTHERS}-1`, baggage: 'sentry-release=r0', ...OWN_PAGE }
    const trace = begin(asked, { random: () => 0.9 })
    expect(trace).toMatchObject({ traceId: 'a'.repeat(32), parentSpanId: 'b'.repeat(16), sampled: true })
    expect(trace.sampling).toEqual({ release: 'r0' })
    expect(begin({ trace: `${OTHERS}-0` }).sampled).toBe(false)
  })

  test('is not sampled by a server that samples nothing', () => {
    expect(begin({ trace: `${OTHERS}-1`, ...OWN_PAGE }, { sampleRate: 0 }).sampled).toBe(false)
  })

  test.for([
    ['sampled', 0.49, true],
    ['not sampled', 0.5, false],
  ] as const)(
    'that wants to be sampled is %s by chance, where it is not of a page of this site',
    ([, drawn, sampled]) => {
      const trace = begin({ trace: `${OTHERS}-1`, baggage: 'sentry-release=r0' }, { random: () => drawn })
      expect(trace).toMatchObject({ traceId: 'a'.repeat(32), parentSpanId: 'b'.repeat(16), sampled })
      expect(trace.sampling['release']).toBe(sampled ? 'r1' : undefined)
    },
  )

  test('is not asked about where it does not want to be sampled', () => {
    const mayDecide = (): boolean => {
      throw new Error('nobody has to know')
    }
    for (const flag of ['', '-0']) expect(begin({ trace: OTHERS + flag, mayDecide }).sampled).toBe(false)
  })

  test('without a decision is not sampled', () => {
    expect(begin({ trace: OTHERS }).sampled).toBe(false)
  })
})

describe('what the page is handed', () => {
  test('has the sampling only where it is sampled', () => {
    expect(traceTimings(begin({}, { sampleRate: 0 }))).toMatch(/^sentry-trace;desc="[0-9a-f]{32}-[0-9a-f]{16}"$/)
    expect(traceTimings(begin({}, { random: () => 0.9 }))).toMatch(/^sentry-trace;desc="[0-9a-f-]{49}-0"$/)
    expect(traceTimings(begin({}))).toMatch(/-1", baggage;desc="sentry-trace_id=7f0c[^"]*sentry-sampled=true"$/)
  })

  test('has no sampling that a visitor has made too long for a header', () => {
    const baggage = Array.from({ length: 10 }, (_, n) => `sentry-${'abcdefghij'[n]}=${'"'.repeat(500)}`).join(',')
    const trace = begin({ trace: `${OTHERS}-1`, baggage, mayDecide: () => true })
    expect(Object.keys(trace.sampling)).toHaveLength(10)
    expect(traceTimings(trace)).toMatch(/^sentry-trace;desc="[^"]+"$/)
  })
})
