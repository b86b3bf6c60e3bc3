import { describe, expect, test } from 'vitest'
import { holds, toLine, toMarkdown } from '../../bench/measurement.ts'
import type { Gate, Measurement } from '../../bench/measurement.ts'

function measured(value: number, gate?: Gate): Measurement {
  return { name: 'throughput, hello', value, unit: '×', detail: '7 rounds', ...(gate && { gate }) }
}

describe('gates', () => {
  test.for([
    ['≥', 0.9, true],
    ['≥', 0.89, false],
    ['≤', 0.9, true],
    ['≤', 0.91, false],
    ['<', 0.89, true],
    ['<', 0.9, false],
  ] as const)('%s 0.9 with %d: %s', ([bound, value, expected]) => {
    expect(holds(measured(value, { bound, limit: 0.9 }))).toBe(expected)
  })

  test('a number that is none holds no gate', () => {
    expect(holds(measured(Number.NaN, { bound: '≥', limit: 0.9 }))).toBe(false)
    expect(holds(measured(Number.NaN, { bound: '≤', limit: 0.9 }))).toBe(false)
  })

  test('without a gate there is nothing to miss', () => {
    expect(holds(measured(0))).toBe(true)
  })
})

test('a line says pass or FAIL first', () => {
  expect(toLine(measured(1, { bound: '≥', limit: 0.9 }))).toMatch(
    /^pass {2}throughput, hello .*1\.00 {2}≥ 0\.9 .*7 rounds$/,
  )
  expect(toLine(measured(0.5, { bound: '≥', limit: 0.9 }))).toMatch(/^FAIL/)
  expect(toLine(measured(0.5))).toMatch(/^ {4}/)
})

test.for([
  ['%', 4.96, '5.0 %'],
  ['B/navigation', -12.34, '-12.3 B/navigation'],
  ['/navigation', 0.0012, '0.00120/navigation'],
  ['requests', 0, '0 requests'],
  ['per page', 1, '1 per page'],
] as const)('a value in %s says so', ([unit, value, text]) => {
  expect(toLine({ ...measured(value), unit })).toContain(` ${text} `)
})

test('the README table has a row for each measurement', () => {
  expect(toMarkdown([measured(1.234, { bound: '≥', limit: 0.9 })]).split('\n')).toEqual([
    '| measured | value | gate | made of |',
    '|---|---:|---|---|',
    '| throughput, hello | 1.23 | ≥ 0.9 | 7 rounds |',
  ])
})
