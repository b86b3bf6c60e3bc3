import { describe, expect, test } from 'vitest'
import { rateTransaction } from '../../../src/client/reports/rate-vitals.ts'
import { isVitalName, rateVital, type VitalName } from '../../../src/shared/reports/vital-rating.ts'

test.for<[VitalName, number, number]>([
  ['lcp', 2_500, 4_000],
  ['inp', 200, 500],
  ['cls', 0.1, 0.25],
  ['fcp', 1_800, 3_000],
  ['ttfb', 800, 1_800],
])('%s is good up to %d and poor beyond %d', ([name, good, fair]) => {
  expect(rateVital(name, good)).toBe('good')
  expect(rateVital(name, good + 0.01)).toBe('needs-improvement')
  expect(rateVital(name, fair)).toBe('needs-improvement')
  expect(rateVital(name, fair + 0.01)).toBe('poor')
})

test('other measurements have no rating', () => {
  expect(isVitalName('fp')).toBe(false)
  expect(isVitalName('constructor')).toBe(false)
  const load = {
    measurements: { fp: { value: 1, unit: 'millisecond' }, lcp: { value: 5_000, unit: 'millisecond' } },
    contexts: { trace: {} },
  }
  expect(rateTransaction(load, true).contexts.trace).toEqual({ data: { 'browser.web_vital.lcp.rating': 'poor' } })
})

describe('a page load without a layout shift', () => {
  const rated = (measurements: Record<string, { value: number; unit: string }>, tellsShifts = true, op = 'pageload') =>
    rateTransaction({ measurements, contexts: { trace: { op, data: {} as Record<string, unknown> } } }, tellsShifts)
  const painted = () => ({ fcp: { value: 10, unit: 'millisecond' } })

  test('has a good CLS of 0', () => {
    const { measurements, contexts } = rated(painted())
    expect(measurements).toMatchObject({ cls: { value: 0, unit: '' } })
    expect(contexts.trace.data).toMatchObject({ 'browser.web_vital.cls.rating': 'good' })
  })

  test('keeps the one it has, and has none where nothing was painted, nobody tells, or it is no page load', () => {
    expect(rated({ ...painted(), cls: { value: 0.3, unit: '' } }).measurements).toMatchObject({ cls: { value: 0.3 } })
    for (const other of [rated({}), rated(painted(), false), rated(painted(), true, 'navigation')]) {
      expect(other.measurements).not.toHaveProperty('cls')
    }
  })
})
