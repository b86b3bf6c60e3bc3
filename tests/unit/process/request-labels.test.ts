import { describe, expect, test } from 'vitest'
import { labelsOf } from '../../../src/server/process/metrics/request-labels.ts'

const record = { route: '/a/[id]', kind: 'document', method: 'GET', status: 200 } as const

describe('labels take no value from a visitor', () => {
  test.for([
    ['/a/[id]', '/a/[id]'],
    ['/_m/data/a/[id]', '/a/[id]'],
    ['/_m/data/*', '/_m/data/*'],
    ['-> https://visitor-made.test', 'proxy'],
    [undefined, 'none'],
  ] as const)('route %s: %s', ([route, label]) => {
    expect(labelsOf({ ...record, route }).route).toBe(label)
  })

  test.for([
    ['GET', 'GET'],
    ['PROPFIND', 'other'],
    ['', 'other'],
  ] as const)('method %s: %s', ([method, label]) => {
    expect(labelsOf({ ...record, method }).method).toBe(label)
  })

  test.for([
    [200, '2xx'],
    [304, '3xx'],
    [431, '4xx'],
    [503, '5xx'],
    [0, 'none'],
  ] as const)('status %d: %s', ([status, label]) => {
    expect(labelsOf({ ...record, status }).status).toBe(label)
  })
})
