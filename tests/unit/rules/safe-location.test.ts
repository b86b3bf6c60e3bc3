import { assert, constantFrom, property, string } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { safeLocation } from '../../../src/shared/safe-location.ts'

describe('a redirect stays on the site', () => {
  it.each([
    ['/', '/'],
    ['/a/b?x=1&y=2#z', '/a/b?x=1&y=2#z'],
    ['/a//b///c', '/a/b/c'],
    ['/a\\b\\/c', '/a/b/c'],
    ['/a?next=//evil.test//x', '/a?next=//evil.test//x'],
    ['/a#//x\\y', '/a#//x%5Cy'],
    ['/%2Fevil.test', '/%2Fevil.test'],
    ['/%5Cevil.test', '/%5Cevil.test'],
    // As browsers resolve them: in front of these, a base path would be left.
    ['/../a', '/a'],
    ['/a/./b/../../../c?x=/../y', '/c?x=/../y'],
    ['/%2e%2E/a', '/a'],
    ['/.%2e\\..//evil.test/..', '/'],
    ['/a/..', '/'],
    ['/..a/.b/c..', '/..a/.b/c..'],
    ['/100%', '/100%25'],
    ['/a%20b%2', '/a%20b%252'],
    ['/你', '/%E4%BD%A0'],
    ['/\u200b/evil.test', '/%E2%80%8B/evil.test'],
    ['/\u212a', '/%E2%84%AA'],
    ['/\ud800', '/%EF%BF%BD'],
    ['/"><img src=x onerror=alert(1)>', '/%22%3E%3Cimg%20src=x%20onerror=alert(1)%3E'],
    ['/a b?c d#e f', '/a%20b?c%20d#e%20f'],
  ])('%j is sent as %s', (to, location) => {
    expect(safeLocation(to)).toBe(location)
  })

  it.each([
    '',
    '//evil.test',
    '///evil.test',
    '/\\evil.test',
    '\\\\evil.test',
    '\\/evil.test',
    '/\t/evil.test',
    '/\r\n/evil.test',
    '\t//evil.test',
    ' /a',
    ' //evil.test',
    '\u200b//evil.test',
    '\ufeff/a',
    '/a\u0000',
    '/a\u007f',
    '/a?b=\r\nSet-Cookie: x=1',
    'a',
    '../a',
    '?a=1',
    '#a',
    'https:evil.test',
    'https:/evil.test',
    'https://evil.test/',
    'HTTPS://evil.test',
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'blob:https://evil.test/x',
  ])('%j is refused', (to) => {
    expect(safeLocation(to)).toBeUndefined()
  })

  it('whatever the text, browsers read the answer as a path of this site', () => {
    const text = string({
      unit: constantFrom('/', '\\', '.', ':', '@', '?', '#', '%', '2', 'f', '\t', ' ', 'K', 'a', 'é'),
    })
    assert(
      property(text, (to) => {
        const location = safeLocation(to)
        if (location === undefined) return
        expect(location).toMatch(/^\/(?![/\\])[\x21-\x7e]*$/)
        expect(new URL(location, 'https://good.test').origin).toBe('https://good.test')
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('a redirect to another site, where the author wrote one', () => {
  it.each([
    ['https://example.com', 'https://example.com'],
    ['HTTP://Example.com:8080/a b?c#d', 'http://Example.com:8080/a%20b?c#d'],
    ['https://[::1]:3000/', 'https://[::1]:3000/'],
    ['https://example.com?x', 'https://example.com?x'],
    ['/a', '/a'],
  ])('%j is sent as %s', (to, location) => {
    expect(safeLocation(to, { external: true })).toBe(location)
  })

  it.each([
    'http://evil.test\\@good.test',
    'https://good.test@evil.test/',
    'https://user:secret@good.test/',
    'https://good.test:99999/',
    'https://good.test:/',
    'https:///good.test',
    'https://',
    'https://good test/',
    'https://good.test\t/',
    'https://gооd.test/',
    '//good.test',
    'ftp://good.test/',
    'javascript://good.test/%0aalert(1)',
    ' https://good.test',
  ])('%j is refused', (to) => {
    expect(safeLocation(to, { external: true })).toBeUndefined()
  })
})
