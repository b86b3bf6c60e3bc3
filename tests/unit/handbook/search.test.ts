import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  compareChapters,
  createSearchIndex,
  isChapterPath,
  readChapter,
  sectionsOf,
  type Section,
} from 'millrace/internal/handbook'
import { describe, expect, test } from 'vitest'
import { renderMarkdown } from '../../../src/app/docs/markdown.server.ts'
import { QUESTIONS, SPELLINGS } from '../../fixtures/handbook/questions.ts'

const ROOT = join(import.meta.dirname, '../../..')
const CHAPTERS = globSync('**/*.md', { cwd: join(ROOT, 'docs') })
  .filter(isChapterPath)
  .map((path) => readChapter(path, readFileSync(join(ROOT, 'docs', path), 'utf8')))
  .toSorted(compareChapters)
const SECTIONS = CHAPTERS.flatMap(sectionsOf)

const index = createSearchIndex(SECTIONS)
const placesOf = (query: string, most: number) =>
  index.search(query, most).map(({ section: { chapter, id } }) => `${chapter}#${id}`)

test.for(QUESTIONS)('the first or second result answers: $query', ({ query, answers }) => {
  expect(answers).toContainEqual(expect.toBeOneOf(placesOf(query, 2)))
})

test.for(SPELLINGS)('is found by another spelling: $query', ({ query, answers }) => {
  expect(answers).toContainEqual(expect.toBeOneOf(placesOf(query, 2)))
})

test('names only sections that exist', () => {
  const places = new Set(SECTIONS.map(({ chapter, id }) => `${chapter}#${id}`))
  const named = [...QUESTIONS, ...SPELLINGS].flatMap(({ answers }) => answers)
  expect(named.filter((place) => !places.has(place))).toEqual([])
})

test('sections have the fragments and headings that the rendered chapters have', () => {
  for (const chapter of CHAPTERS) {
    const rendered = renderMarkdown(chapter.body).headings.map(({ id, text }) => [id.replace(/^section-/, ''), text])
    const read = sectionsOf(chapter).map(({ id, heading }) => [id, heading])
    expect(read.slice(1)).toEqual(rendered)
  }
})

test('a section knows its line in the file', () => {
  const lines = (chapter: string) => readFileSync(join(ROOT, `docs/${chapter}.md`), 'utf8').split('\n')
  const below = SECTIONS.filter(({ id }) => id !== '')
  const found = below.map(({ chapter, line }) => lines(chapter)[line - 1]?.replace(/^#+ /, '').replaceAll('`', ''))
  expect(found).toEqual(below.map(({ heading }) => heading))
})

describe('a search', () => {
  const section = (heading: string, text: string, weight = 1): Section => {
    return { chapter: 'mills', title: 'Mills', id: heading.toLowerCase(), heading, parent: '', text, code: '', weight }
  }
  const small = createSearchIndex([
    section('Wheels', 'The wheel turns. A wheel needs water, and the race leads water to it. '.repeat(8)),
    section('Water', 'Where the race leads.'),
    section('Aside', 'Water, water, water.', 0.1),
  ])

  test('takes the query as text, and finds nothing for an empty one', () => {
    expect(small.search('', 5)).toEqual([])
    expect(small.search(' .* ', 5)).toEqual([])
    expect(small.search('(', 5)).toEqual([])
  })

  test('prefers headings, and chapters of more weight', () => {
    expect(small.search('water', 5).map(({ section }) => section.heading)).toEqual(['Water', 'Wheels', 'Aside'])
  })

  test('looks at twelve words of a query, however long it is', () => {
    const noise = Array.from({ length: 12 }, (_, number) => `word${number}`).join(' ')
    expect(small.search(`${noise} water`, 5)).toEqual([])
    expect(small.search(`water ${noise}`, 5)).not.toEqual([])
  })

  test('shows a passage with marks on the words that were found', () => {
    const [hit] = small.search('wheels', 1)
    expect(hit?.snippet.filter(({ marked }) => marked).map(({ text }) => text)).toContain('wheel')
    expect(hit?.snippet.map(({ text }) => text).join('').length).toBeLessThan(190)
  })

  test('finds an export first by its exact name', () => {
    const names = SECTIONS.filter(({ chapter, id }) => chapter.startsWith('reference/') && id !== '')
    const exports = names.filter(({ chapter }) => CHAPTERS.find(({ name }) => name === chapter)?.title.includes(':'))
    expect(exports.length).toBeGreaterThan(150)
    expect(exports.map(({ heading }) => placesOf(heading, 1)[0])).toEqual(
      exports.map(({ chapter, id }) => `${chapter}#${id}`),
    )
    expect(placesOf('useSearch()', 1)).toEqual(['reference/millrace/pages-and-layouts#usesearch'])
  })

  test('gives at most as many results as asked for', () => {
    expect(index.search('page', 7)).toHaveLength(7)
  })
})
