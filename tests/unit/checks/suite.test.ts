import { expect, test } from 'vitest'
import { hasTests, runSuites, runSuitesAtOnce, suiteLine, suiteSummary } from '../../../scripts/checks/suite.ts'
import type { Suite, SuiteCount, SuiteResult } from '../../../scripts/checks/suite.ts'

/** A clock that moves on by a second whenever it is read. */
function secondsClock(): () => number {
  const clock = { now: 0 }
  return () => (clock.now += 1_000)
}

function suite(title: string, count: SuiteCount | Error, counts: Suite['counts'] = 'tests'): Suite {
  return { title, counts, run: () => (count instanceof Error ? Promise.reject(count) : Promise.resolve(count)) }
}

const result = (title: string, count: SuiteCount, elapsedMs = 1_000): SuiteResult => ({
  title,
  counts: 'tests',
  elapsedMs,
  ...count,
})

test('every suite runs, also after one that failed or broke, and each has its line', async () => {
  const printed: string[] = []
  const suites = [
    suite('Unit', { passed: 3, failed: 1 }),
    suite('HTTP', new Error('It broke.')),
    suite('Browser', { passed: 2, failed: 0 }),
  ]
  const results = await runSuites(suites, (line) => printed.push(line), secondsClock())
  expect(results.map(({ title, passed, failed }) => [title, passed, failed])).toEqual([
    ['Unit', 3, 1],
    ['HTTP', 0, 1],
    ['Browser', 2, 0],
  ])
  expect(printed).toContain('It broke.')
  expect(printed.filter((line) => /^(?:ok|FAILED)/.test(line))).toHaveLength(3)
})

test('suites beside another one begin with it, one after the other, and are shown in their places', async () => {
  const events: string[] = []
  const named = (title: string, parts: Partial<Suite> = {}): Suite => ({
    title,
    counts: 'check',
    run: async () => {
      events.push(`${title} begins`)
      await new Promise(setImmediate)
      events.push(`${title} ends`)
      return { passed: 1, failed: 0 }
    },
    ...parts,
  })
  const broken = named('Image', { beside: 'Browser', run: () => Promise.reject(new Error('no image')) })
  const suites = [named('Unit'), named('Browser'), named('Engines'), broken, named('Package', { beside: 'Browser' })]
  const printed: string[] = []
  const results = await runSuites(suites, (text) => printed.push(text), secondsClock())
  expect(results.map(({ title, failed }) => [title, failed])).toEqual([
    ['Unit', 0],
    ['Browser', 0],
    ['Engines', 0],
    ['Image', 1],
    ['Package', 0],
  ])
  expect(events.indexOf('Package begins')).toBeGreaterThan(events.indexOf('Unit ends'))
  expect(events.indexOf('Package begins')).toBeLessThan(events.indexOf('Engines begins'))
  expect(printed.join('\n')).toMatch(/ok +Engines.*no image.*FAILED +Image.*ok +Package/s)
})

test('suites that run at once are shown one after the other, in their order', async () => {
  const first = Promise.withResolvers<SuiteCount>()
  const printed: string[] = []
  const told = runSuitesAtOnce(
    [
      { title: 'Slow', counts: 'check', run: () => first.promise },
      {
        title: 'Fast',
        counts: 'check',
        run: async (print) => {
          print('fast has ended')
          first.resolve({ passed: 1, failed: 0 })
          return { passed: 0, failed: 1 }
        },
      },
    ],
    (text) => printed.push(text),
    secondsClock(),
  )
  expect((await told).map(({ title }) => title)).toEqual(['Slow', 'Fast'])
  expect(printed.join('\n')).toMatch(/Slow.*ok +Slow.*Fast.*fast has ended.*FAILED +Fast/s)
})

test('a line has the state, the name, the count, the time, and why nothing ran', () => {
  expect(suiteLine(result('Unit', { passed: 3, failed: 0 }, 12_340))).toMatch(/^ok +Unit +3 passed +12\.3 s$/)
  expect(suiteLine(result('Unit', { passed: 3, failed: 2, skipped: 1 }))).toMatch(
    /^FAILED +Unit +3 passed, 2 failed, 1 skipped +1\.0 s$/,
  )
  expect(suiteLine(result('Browser', { passed: 0, failed: 0, note: 'no Chromium' }))).toMatch(
    /^skipped +Browser +0 passed +1\.0 s {2}no Chromium$/,
  )
})

test('the last line is the sum alone', () => {
  const lines = suiteSummary(
    [result('Unit', { passed: 3, failed: 1 }), result('HTTP', { passed: 4, failed: 0 })],
    5_000,
  )
  expect(lines.at(-1)).toBe('7 passed, 1 failed')
  expect(lines).toContain('5.0 s in all')
  expect(lines.filter((line) => /Unit|HTTP/.test(line))).toHaveLength(2)
})

test('checks are no tests', () => {
  const types: SuiteResult = { title: 'Types', counts: 'check', elapsedMs: 1, passed: 1, failed: 0 }
  expect(hasTests([types])).toBe(false)
  expect(hasTests([types, result('Unit', { passed: 0, failed: 0 })])).toBe(false)
  expect(hasTests([types, result('Unit', { passed: 0, failed: 1 })])).toBe(true)
})
