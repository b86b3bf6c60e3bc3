import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

const PROJECT = resolve(import.meta.dirname, '../../..')
const COMMIT = /`[0-9a-f]{7}`/
const read = (path: string): string => readFileSync(resolve(PROJECT, path), 'utf8')

/** The text under a heading, up to the next one of the same rank. */
function section(text: string, heading: string): string {
  return text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? ''
}

/** Rows of tables, without their heads. */
const rowsOf = (text: string): string[] =>
  [...text.matchAll(/^\|[^\n]*\n\|[-:| ]+\n((?:\|[^\n]*\n)+)/gm)].flatMap(([, rows = '']) => rows.trim().split('\n'))

describe('a published figure names its commit and its processor', () => {
  test('in the README, which has six', () => {
    const figures = section(read('README.md'), 'Figures')
    expect(figures).toMatch(/Measured on .*(?:Xeon|EPYC)/)
    expect(rowsOf(figures)).toHaveLength(6)
    expect(rowsOf(figures).filter((row) => !COMMIT.test(row))).toEqual([])
  })

  test('in docs/performance.md', () => {
    const text = read('docs/performance.md')
    expect(text).toMatch(/\*\*Processor:\*\* .*(?:Xeon|EPYC)/)
    for (const heading of ['Beside a bare server', 'Sizes, start and memory']) {
      const rows = rowsOf(section(text, heading))
      expect(rows.length).toBeGreaterThan(5)
      expect(rows.filter((row) => !COMMIT.test(row))).toEqual([])
    }
    expect(section(text, 'Beside peers')).toMatch(COMMIT)
  })
})

test('the README has fewer than 120 lines, and its picture fewer than 150 kB', () => {
  const text = read('README.md')
  expect(text.trimEnd().split('\n').length).toBeLessThan(120)
  const [, picture = ''] = /!\[[^\]]+\]\(([^)]+)\)/.exec(text) ?? []
  expect(statSync(resolve(PROJECT, picture)).size).toBeLessThan(150_000)
})
