import { crc32 } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { documentTag, matchesTag } from '../../../src/server/routes/render/document-tag.ts'

test.for([10, 100_000])('documents of %d characters have equal tags only for equal content', (size) => {
  const html = 'x'.repeat(size)
  const tag = documentTag(html, 'rest', 'build')
  expect(tag).toBe(documentTag('x'.repeat(size), 'rest', 'build'))
  expect(tag).toMatch(/^W\/"[\w-]{22}"$/)
  for (const other of [
    documentTag(`${html}y`, 'rest', 'build'),
    documentTag(html, 'rest 2', 'build'),
    documentTag(html, 'rest', 'build 2'),
    documentTag(`${html}r`, 'est', 'build'),
    documentTag(html, 'drest', 'buil'),
  ]) {
    expect(other).not.toBe(tag)
  }
})

test.for([0, 100_000])('a visitor who edits a page of %d characters cannot give it the tag that it had', (size) => {
  const pageOf = (word: string): string => `<p>${word}${'x'.repeat(size)}</p>`
  const [before, after] = [pageOf('plumless'), pageOf('buckeroo')]
  expect(crc32(after)).toBe(crc32(before))
  expect(documentTag(after, 'rest', 'build')).not.toBe(documentTag(before, 'rest', 'build'))
})

describe('If-None-Match', () => {
  test.for(['W/"a"', '"a"', '*', ' * ', '"b", W/"a"', '"b","a" '])('%j names the tag', (header) => {
    expect(matchesTag(header, 'W/"a"')).toBe(true)
  })

  test.for([undefined, '', 'a', '"A"', '"ab"', 'W/"b"', 'W/W/"a"', '"'.repeat(1_000)])('%j does not', (header) => {
    expect(matchesTag(header, 'W/"a"')).toBe(false)
  })
})

test('is the same for a document that comes again, at once or after another one', () => {
  const tags = ['a', 'a', 'b', 'a'].map((html) => documentTag(html, 'rest', 'build'))
  expect(new Set(tags).size).toBe(2)
  expect([tags[1], tags[3]]).toEqual([tags[0], tags[0]])
})
