import { describe, expect, test } from 'vitest'
import { hrefOf, localHref } from '../../../src/client/core/data/local-href.ts'

const ORIGIN = 'https://good.test'

describe('a URL of this site', () => {
  test.for([
    ['/a?x=1#y', '/a?x=1#y'],
    ['//evil.test/a', '/evil.test/a'],
    ['///evil.test//a/', '/evil.test//a/'],
    ['//', '/'],
    ['/', '/'],
    ['/a?_action=x.1&b=2#y', '/a?b=2#y'],
    ['/a?b=1&_action=x&_action=y', '/a?b=1'],
    ['/a?my_action=x#?_action=x', '/a?my_action=x#?_action=x'],
  ] as const)('with the path %s never leads to another one', ([path, href]) => {
    expect(hrefOf(new URL(ORIGIN + path))).toBe(href)
    expect(new URL(href, ORIGIN).origin).toBe(ORIGIN)
  })
})

describe('the target of a redirect', () => {
  test.for([
    ['/a/../b', '/b'],
    ['/..//evil.test/a', '/evil.test/a'],
    ['/.//evil.test', '/evil.test'],
    ['//evil.test/a', undefined],
    ['/\\evil.test/a', undefined],
    ['https://good.test/a', undefined],
    ['a', undefined],
  ] as const)('%s is read as the browser reads it, and stays here', ([to, href]) => {
    expect(localHref(to, ORIGIN)).toBe(href)
  })
})
