import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { baggageHeader, parseBaggage, parseTraceHeader, traceHeader } from '../../../src/shared/reports/trace-header.ts'

const hex = (digits: number) => fc.stringMatching(new RegExp(`^[0-9a-f]{${digits}}$`))

describe('sentry-trace', () => {
  test('is read as it was written', () => {
    const parents = fc.record({
      traceId: hex(32),
      spanId: hex(16),
      sampled: fc.constantFrom(true, false, undefined),
    })
    fc.assert(
      fc.property(parents, (parent) => {
        expect(parseTraceHeader(traceHeader(parent))).toEqual(parent)
      }),
    )
  })

  test.for([
    undefined,
    '',
    '-',
    'a-b-1',
    `${'0'.repeat(32)}-${'0'.repeat(15)}`,
    `${'g'.repeat(32)}-${'0'.repeat(16)}-1`,
  ])('is nothing if it is %j', (text) => expect(parseTraceHeader(text)).toBeUndefined())
})

describe('baggage', () => {
  test('is read as it was written', () => {
    const members = { trace_id: 'a', environment: 'east, west=1', sample_rate: '0.5' }
    expect(parseBaggage(baggageHeader(members))).toEqual(members)
  })

  test.for([
    ['members of others', 'user=7,sentry-release=r1;ttl=1, other-sentry-x=2', { release: 'r1;ttl=1' }],
    ['what cannot be decoded', 'sentry-release=%E0%A4%A,sentry-environment=a', { environment: 'a' }],
    ['names that are no names', 'sentry-__proto__x9=1,sentry-=2,sentry', {}],
    ['more than anybody writes', 'sentry-release=1,'.repeat(600), {}],
  ] as const)('is read without %s', ([, text, members]) => expect(parseBaggage(text)).toEqual(members))
})
