import { expect, test } from 'vitest'
import { BenchUsageError, BROWSER_SECTIONS, parseOptions, SECTIONS, USAGE } from '../../bench/options.ts'

test('without arguments everything is measured, and a missed gate is no error', () => {
  expect(parseOptions([])).toMatchObject({
    sections: SECTIONS,
    workloads: ['hello', 'spiral', 'table', 'links'],
    leak: { rounds: 10, requests: 20_000 },
    navigations: 10_000,
    gate: false,
    markdown: false,
  })
})

test('a workload alone measures its throughput and nothing else', () => {
  expect(parseOptions(['--workload', 'hello,links', '--rounds', '3'])).toMatchObject({
    sections: ['throughput'],
    workloads: ['hello', 'links'],
    rounds: 3,
  })
})

test('quick is shorter, and single numbers still win', () => {
  const { rounds, seconds, navigations, clickPairs } = parseOptions(['--quick', '--rounds', '9', '--navigations', '70'])
  expect(rounds).toBe(9)
  expect(navigations).toBe(70)
  expect(clickPairs).toBeLessThan(parseOptions([]).clickPairs)
  expect(seconds).toBeLessThan(parseOptions([]).seconds)
})

test.for([
  ['--workload', 'helo'],
  ['--section', 'speed'],
  ['--rounds', '0'],
  ['--seconds', '1.5'],
  ['--navigations', 'many'],
  ['--fast', ''],
] as const)('%s %s is refused by name', ([flag, value]) => {
  expect(() => parseOptions([flag, value])).toThrow(BenchUsageError)
  expect(() => parseOptions([flag, value])).toThrow(flag)
})

test('what needs a browser can be asked for by name', () => {
  expect(parseOptions(['--section', BROWSER_SECTIONS.join(',')]).sections).toEqual(BROWSER_SECTIONS)
  for (const section of BROWSER_SECTIONS) expect(USAGE).toContain(section)
})
