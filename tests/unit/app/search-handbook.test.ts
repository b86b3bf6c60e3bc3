import { describe, expect, it } from 'vitest'
import { searchHandbook } from '../../../src/app/docs/search-handbook.ts'

const CHAPTERS = [
  { path: '/docs', title: 'Overview', headings: [{ id: 'parts', text: 'The parts', depth: 2 }] },
  {
    path: '/docs/rules',
    title: 'Rules',
    headings: [
      { id: 'headers', text: 'Headers', depth: 2 },
      { id: 'order', text: 'Order', depth: 2 },
    ],
  },
]

describe('searching the handbook', () => {
  it('finds titles and headings, whatever the case', () => {
    expect(searchHandbook(CHAPTERS, 'RULES').map(({ href }) => href)).toEqual(['/docs/rules'])
    expect(searchHandbook(CHAPTERS, 'head')).toEqual([
      { href: '/docs/rules#headers', chapter: 'Rules', heading: 'Headers' },
    ])
  })

  it('finds a section by its chapter and its own words together', () => {
    expect(searchHandbook(CHAPTERS, 'rules order').map(({ href }) => href)).toEqual(['/docs/rules#order'])
  })

  it('finds nothing for an empty query, and nothing where a word is missing', () => {
    expect(searchHandbook(CHAPTERS, '  ')).toEqual([])
    expect(searchHandbook(CHAPTERS, 'rules parts')).toEqual([])
  })

  it('takes the query as text and not as a pattern', () => {
    expect(searchHandbook(CHAPTERS, '.*')).toEqual([])
  })

  it('shows at most 30 places', () => {
    const headings = Array.from({ length: 50 }, (_, index) => ({ id: `h${index}`, text: `Part ${index}`, depth: 2 }))
    expect(searchHandbook([{ path: '/docs', title: 'Long', headings }], 'part')).toHaveLength(30)
  })
})
