import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  LIMIT_MS,
  MOST_PRESSURE,
  NO_LOAD,
  reduceLoad,
  refusedShare,
  type LoadSample,
  type LoadState,
} from '../../../src/server/request/admission/load-shedding.ts'

const at = (pressure: number, latenessMs = 0): LoadState => ({ pressure, overloaded: false, latenessMs })
const busy = (latenessMs: number): LoadSample => ({ latenessMs, utilization: 1 })
const after = (state: LoadState, sample: LoadSample, times: number): LoadState =>
  Array.from({ length: times }).reduce<LoadState>((current) => reduceLoad(current, sample), state)

describe('the pressure after a sample', () => {
  test.for([
    // from, lateness, utilization, to
    [0, 0, 0, 0],
    [0, 100, 1, 0],
    [0, 101, 1, 0.101],
    [0, 200, 1, 0.2],
    [0, 5_000, 1, 0.4],
    [0, 5_000, 0.79, 0],
    [0, 5_000, 0.8, 0.4],
    [0.5, 49, 1, 0.45],
    [0.5, 50, 1, 0.5],
    [0.5, 100, 1, 0.5],
    [0.02, 0, 0, 0],
    [1, 200, 1, 1],
    [1, 199, 1, 0.95],
    [1.5, 401, 1, 1.6],
    [1.5, 399, 1, 1.5],
    [2, 1_000, 1, 2],
    [2, 1_001, 1, 2.1],
    [2, 499, 1, 1.95],
    [2.8, 9_000, 1, MOST_PRESSURE],
  ] as const)('at %d, late by %d ms, at work for %d: %d', ([from, latenessMs, utilization, to]) => {
    expect(reduceLoad(at(from, latenessMs), { latenessMs, utilization }).pressure).toBeCloseTo(to, 2)
  })
})

test('one late sample between others is nothing', () => {
  let state = NO_LOAD
  for (const latenessMs of [0, 5_000, 0, 3_000, 10, 9_000]) state = reduceLoad(state, busy(latenessMs))
  expect(state.pressure).toBe(0)
  expect(reduceLoad(state, busy(200)).pressure).toBeCloseTo(0.2)
})

describe('who is refused', () => {
  test.for([
    [0, 0, 0, 0],
    [0.3, 0.3, 0, 0],
    [1, 1, 0, 0],
    [1.4, 1, 0.4, 0],
    [2, 1, 1, 0],
    [2.9, 1, 1, 0.9],
  ] as const)('at %d: %d of the prefetches, %d of the data, %d of the documents', ([pressure, ...shares]) => {
    const found = (['prefetch', 'data', 'document'] as const).map((name) => refusedShare(at(pressure), name))
    for (const [index, share] of shares.entries()) expect(found[index]).toBeCloseTo(share, 5)
  })

  test('is never a document while a prefetch or data is served, and never every document', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ latenessMs: fc.nat(20_000), utilization: fc.constant(1) })), (samples) => {
        const state = samples.reduce(reduceLoad, NO_LOAD)
        const share = (name: 'prefetch' | 'data' | 'document') => refusedShare(state, name)
        expect(share('data') === 0 || share('prefetch') === 1).toBe(true)
        expect(share('document') === 0 || share('data') === 1).toBe(true)
        expect(share('document')).toBeLessThan(1)
      }),
    )
  })
})

describe('an instance is taken out of the balancer', () => {
  test('by lateness that lasts, for documents, and comes back with a distance', () => {
    const late = after(NO_LOAD, busy(1_500), 20)
    expect(late).toMatchObject({ pressure: MOST_PRESSURE, overloaded: true })
    const easing = after(late, busy(0), 27)
    expect(easing.pressure).toBeCloseTo(1.55)
    expect(easing.overloaded).toBe(true)
    const eased = after(easing, busy(0), 2)
    expect(eased.overloaded).toBe(false)
    expect(after(eased, busy(0), 40)).toEqual(NO_LOAD)
  })

  test.for([LIMIT_MS.prefetch + 1, LIMIT_MS.data + 1, LIMIT_MS.document])(
    'not by %d ms, however long it lasts',
    (lateness) => {
      expect(after(NO_LOAD, busy(lateness), 500).overloaded).toBe(false)
    },
  )
})

test('a load that can be shed settles below the limit of documents, without swinging between all and nothing', () => {
  // Ten times what can be served: the queue grows by what is let in beyond it.
  let state = NO_LOAD
  let queueMs = 0
  const shares: number[] = []
  for (let sample = 0; sample < 400; sample += 1) {
    const admitted = 10 * (1 - refusedShare(state, 'document'))
    queueMs = Math.min(3_000, Math.max(0, queueMs + (admitted - 1) * 250))
    state = reduceLoad(state, busy(queueMs))
    if (sample >= 100) shares.push(Math.min(1, admitted))
  }
  const served = shares.reduce((sum, share) => sum + share, 0) / shares.length
  expect(served).toBeGreaterThan(0.9)
})
