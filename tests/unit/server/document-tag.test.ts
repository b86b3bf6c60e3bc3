import { describe, expect, test } from 'vitest'
import { documentTag, matchesTag } from '../../../src/server/render/document-tag.ts'

test.for([10, 100_000])('documents of %d characters have equal tags only for equal content', (size) => {
  const html = 'x'.repeat(size)
  expect(documentTag(html, 'build')).toBe(documentTag('x'.repeat(size), 'build'))
  expect(documentTag(html, 'build')).toMatch(/^W\/"[\w-]{8,}"$/)
  expect(documentTag(`${html}y`, 'build')).not.toBe(documentTag(html, 'build'))
  expect(documentTag(html, 'build 2')).not.toBe(documentTag(html, 'build'))
})

describe('If-None-Match', () => {
  test.for(['W/"a"', '"a"', '*', ' * ', '"b", W/"a"', '"b","a" '])('%j names the tag', (header) => {
    expect(matchesTag(header, 'W/"a"')).toBe(true)
  })

  test.for([undefined, '', 'a', '"A"', '"ab"', 'W/"b"', 'W/W/"a"', '"'.repeat(1_000)])('%j does not', (header) => {
    expect(matchesTag(header, 'W/"a"')).toBe(false)
  })
})
