import { expect, test } from 'vitest'
import { countTests, passedAtSecondAttempt } from '../../../scripts/checks/vitest-run.ts'
import type { VitestReport } from '../../../scripts/checks/vitest-run.ts'

function report(passed: number, failed: number, files: VitestReport['testResults'] = []): VitestReport {
  return { numPassedTests: passed, numFailedTests: failed, testResults: files }
}

test('passed and failed tests are counted as vitest counts them', () => {
  expect(countTests(report(7, 0), 0)).toEqual({ passed: 7, failed: 0 })
  expect(countTests(report(7, 2, [{ status: 'failed', assertionResults: [{ status: 'failed' }] }]), 1)).toEqual({
    passed: 7,
    failed: 2,
  })
})

test('every file that cannot be loaded is a failure of its own, although it has no tests', () => {
  const failedTest = { status: 'failed', assertionResults: [{ status: 'passed' }, { status: 'failed' }] }
  const brokenFile = { status: 'failed', assertionResults: [] }
  expect(countTests(report(7, 1, [failedTest, brokenFile, brokenFile]), 1)).toEqual({ passed: 7, failed: 3 })
})

test('a run that ends badly is a failure although every test passed', () => {
  expect(countTests(report(7, 0), 1)).toEqual({ passed: 7, failed: 1 })
})

test('a run that leaves no report is a failure', () => {
  expect(countTests(undefined, 137)).toEqual({ passed: 0, failed: 1 })
})

test('a test that passed after it had failed is named', () => {
  const again = { status: 'passed', fullName: 'page > is there', failureMessages: ['Error: not yet'] }
  const failed = { status: 'failed', fullName: 'page > is gone', failureMessages: ['Error: no', 'Error: no'] }
  const tests = [{ status: 'passed', fullName: 'page > is whole', failureMessages: [] }, again, failed]
  expect(passedAtSecondAttempt(report(2, 1, [{ status: 'failed', assertionResults: tests }]))).toEqual([
    'page > is there',
  ])
  expect(passedAtSecondAttempt(undefined)).toEqual([])
})
