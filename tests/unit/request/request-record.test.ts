import { describe, expect, test } from 'vitest'
import { RequestRecord } from '../../../src/server/request/request-record.ts'
import type { PartKind, RequestTelemetry } from '../../../src/server/request/request-telemetry.ts'

const newRecord = (): RequestRecord =>
  new RequestRecord({ requestId: '1', method: 'GET', protocol: 'http', startedAt: performance.now() })

const END = { method: 'GET', status: 200, bytes: 1, aborted: false, traceId: undefined }
const plain = { data: undefined, action: undefined, prefetch: false }
const data = { build: 'x' }
const action = { id: 'x', form: '' }

test.for([
  ['document', {}, 'document'],
  ['document', { prefetch: true }, 'prefetch'],
  ['document', { action }, 'action'],
  ['other', { data }, 'data'],
  ['other', { data, prefetch: true }, 'prefetch'],
  ['other', { data, action }, 'action'],
  ['asset', {}, 'asset'],
  ['asset', { prefetch: true }, 'asset'],
  ['resource', {}, 'resource'],
  ['relay', {}, 'relay'],
  ['other', {}, 'other'],
] as const)('what is answered as %s, with %j, is of kind %s when it is over', ([answered, facts, kind]) => {
  const record = newRecord()
  record.kind = answered
  record.end(END, { ...plain, ...facts })
  expect(record.kind).toBe(kind)
})

/** Telemetry that writes down what it is told. */
function follow(record: RequestRecord) {
  const told: unknown[] = []
  const inside = { kind: undefined as PartKind | undefined }
  record.telemetry = {
    traceId: undefined,
    run: (work) => work(),
    begin: (kind, name) => ({
      run(work) {
        inside.kind = kind
        try {
          return work()
        } finally {
          inside.kind = undefined
        }
      },
      end: (thrown) => void told.push([kind, name, thrown]),
    }),
    failed: () => undefined,
  } satisfies RequestTelemetry
  return { told, inside }
}

const spansOf = ({ spans }: RequestRecord): unknown =>
  spans.map(({ op, name, startedAt, endedAt = startedAt }) => [op, name, endedAt >= startedAt])

describe('a measured part', () => {
  test('is told to all who follow the request, and runs inside of its context', async () => {
    const record = newRecord()
    const { told, inside } = follow(record)
    const work = Promise.withResolvers<string>()
    const measured = record.measure({ kind: 'loader', name: '/#page' }, () => {
      expect(inside.kind).toBe('loader')
      return work.promise
    })
    expect([told, record.spans]).toEqual([[], []])
    work.resolve('data')
    expect(await measured).toBe('data')
    expect(told).toEqual([['loader', '/#page', undefined]])
    expect(spansOf(record)).toEqual([['loader', '/#page', true]])
  })

  test('that throws is measured too, at once or later', async () => {
    const record = newRecord()
    const { told } = follow(record)
    const fault = new Error('gone')
    const at = { kind: 'loader', name: 'a' } as const
    const fail = (): never => {
      throw fault
    }
    expect(() => record.measure(at, fail)).toThrow(fault)
    await expect(record.measure(at, async () => fail())).rejects.toBe(fault)
    expect(told).toEqual([
      ['loader', 'a', [fault]],
      ['loader', 'a', [fault]],
    ])
    expect(record.spans).toHaveLength(2)
  })

  test('at once costs no promise, and its result may name it, hold what it has thrown, or be no span', () => {
    const record = newRecord()
    const { told } = follow(record)
    const part = {
      kind: 'shell',
      spanName: (made: string) => (made === 'thrown' ? undefined : made),
      thrownIn: (made: string) => (made === 'thrown' ? ([made] as const) : undefined),
    } as const
    expect(record.measure(part, () => 'whole')).toBe('whole')
    expect(record.measure(part, () => 'thrown')).toBe('thrown')
    expect(told).toEqual([
      ['shell', undefined, undefined],
      ['shell', undefined, ['thrown']],
    ])
    expect(spansOf(record)).toEqual([['render', 'whole', true]])
  })
})

test('spans of outgoing requests are bounded, and those of loaders come through', async () => {
  const record = newRecord()
  for (let at = 0; at < 300; at += 1) {
    record.keepSpan({ op: 'http.client', name: 'GET https://mill.example', startedAt: at, endedAt: at })
  }
  await record.measure({ kind: 'loader', name: 'a' }, async () => undefined)
  expect([record.spans.length, record.loaders.length]).toEqual([201, 1])
})
