import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const CHAPTER = 'docs/changing.md'
const CODE_SPAN = /`([^`\n]+)`/g
/** A code span with a slash or an ending is a path; others are names in the code. */
const PATH = /^\.?[\w-]+(?:[/.][\w.-]+)+$/

const named = [...readFileSync(CHAPTER, 'utf8').matchAll(CODE_SPAN)].map(([, span = '']) => span)
const paths = [...new Set(named.filter((span) => PATH.test(span) && span !== 'context.cached'))]

describe('the chapter on where to change what', () => {
  it('names paths of every part of the project', () => {
    const parts = new Set(paths.map((path) => path.split('/')[0]))
    expect([...parts]).toEqual(expect.arrayContaining(['src', 'scripts', 'tests', 'docs', 'deploy']))
  })

  it.each(paths)('names %s, which exists', (path) => {
    expect(existsSync(path)).toBe(true)
  })
})
