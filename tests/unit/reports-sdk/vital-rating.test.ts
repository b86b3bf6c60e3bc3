import { expect, test } from 'vitest'
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
  const load = { measurements: { fp: { value: 1 }, lcp: { value: 5_000 } }, contexts: { trace: {} } }
  expect(rateTransaction(load).contexts.trace).toEqual({ data: { 'browser.web_vital.lcp.rating': 'poor' } })
})
