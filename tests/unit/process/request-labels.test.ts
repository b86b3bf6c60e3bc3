import { describe, expect, test } from 'vitest'
import { labelsOf } from '../../../src/server/process/metrics/request-labels.ts'

const plain = { kind: 'document', data: undefined, action: undefined, prefetch: false } as const
const line = { route: '/a/[id]', method: 'GET', status: 200 }
const data = { build: 'x' }
const action = { id: 'x', form: '' }

test.for([
  [{}, 'document'],
  [{ prefetch: true }, 'prefetch'],
  [{ action }, 'action'],
  [{ kind: 'other', data }, 'data'],
  [{ kind: 'other', data, prefetch: true }, 'prefetch'],
  [{ kind: 'other', data, action }, 'action'],
  [{ kind: 'asset' }, 'asset'],
  [{ kind: 'asset', prefetch: true }, 'asset'],
  [{ kind: 'resource' }, 'resource'],
  [{ kind: 'relay' }, 'relay'],
  [{ kind: 'other' }, 'other'],
] as const)('%j is of kind %s', ([given, kind]) => {
  expect(labelsOf({ ...plain, ...given }, line).kind).toBe(kind)
})

describe('labels take no value from a visitor', () => {
  test.for([
    ['/a/[id]', '/a/[id]'],
    ['/_m/data/a/[id]', '/a/[id]'],
    ['/_m/data/*', '/_m/data/*'],
    ['-> https://visitor-made.test', 'proxy'],
    [null, 'none'],
  ] as const)('route %s: %s', ([route, label]) => {
    expect(labelsOf(plain, { ...line, route }).route).toBe(label)
  })

  test.for([
    ['GET', 'GET'],
    ['PROPFIND', 'other'],
    ['', 'other'],
  ] as const)('method %s: %s', ([method, label]) => {
    expect(labelsOf(plain, { ...line, method }).method).toBe(label)
  })

  test.for([
    [200, '2xx'],
    [304, '3xx'],
    [431, '4xx'],
    [503, '5xx'],
    [0, 'none'],
  ] as const)('status %d: %s', ([status, label]) => {
    expect(labelsOf(plain, { ...line, status }).status).toBe(label)
  })
})
