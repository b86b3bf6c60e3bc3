import { array, assert, constantFrom, integer, oneof, property, string } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isValidHost, judgeTarget, splitAbsoluteTarget } from '../../../src/server/http/request-target.ts'
import { MAX_TARGET_BYTES } from '../../../src/shared/limits.ts'

/** Node gives each byte of a target as one character. */
const byte = integer({ min: 0, max: 0xff }).map((code) => String.fromCharCode(code))
const telling = constantFrom('/', '\\', '.', '..', '%2e', '%2F', '%5c', '%', '%00', '?', '#', '//', ':', '@', 'a', ' ')
const targets = oneof(
  string({ unit: byte }),
  array(oneof(telling, byte), { maxLength: 12 }).map((parts) => `/${parts.join('')}`),
)

describe('a request target is taken as it is', () => {
  test.for([
    ['/', '/', ''],
    ['/a/b', '/a/b', ''],
    ['/a?', '/a', ''],
    ['/a?x=//b\\c', '/a', '?x=//b\\c'],
    ['/a?%zz=%00', '/a', '?%zz=%00'],
    ['/a%20b', '/a%20b', ''],
    ['/a b', '/a%20b', ''],
    ['/%C2%A0%E2%80%8B', '/%C2%A0%E2%80%8B', ''],
    ['/a?b c', '/a', '?b%20c'],
    ['/a%2Fb%5Cc', '/a%2Fb%5Cc', ''],
    ['/\u00e4'.replace('\u00e4', '\u00c3\u00a4'), '/%C3%A4', ''],
    ['/a?\u00c3\u00a4', '/a', '?%C3%A4'],
    ['/...', '/...', ''],
    ['/a.b/.well-known', '/a.b/.well-known', ''],
    ['/_m/data/', '/_m/data/', ''],
    ['/_m/data/?x', '/_m/data/', '?x'],
  ] as const)('%j', ([target, pathname, search]) => {
    expect(judgeTarget(target)).toEqual({ kind: 'ok', pathname, search, dotSegments: false })
  })

  test(`up to ${MAX_TARGET_BYTES} bytes`, () => {
    expect(judgeTarget(`/${'a'.repeat(MAX_TARGET_BYTES - 1)}`).kind).toBe('ok')
  })
})

describe('a dot segment in any spelling is marked, so that nothing is served for it', () => {
  test.for(['/.', '/..', '/a/./b', '/a/../b', '/%2e', '/%2E%2e/x', '/a/.%2e', '/a/%2e.'])('%s', (target) => {
    expect(judgeTarget(target)).toMatchObject({ kind: 'ok', dotSegments: true })
  })
})

describe('another spelling of a path leads to the one spelling', () => {
  test.for([
    ['//', '/'],
    ['/a/', '/a'],
    ['/_m/data/a/', '/_m/data/a'],
    ['/_m/data//', '/_m/data'],
    ['/a//?x=1', '/a?x=1'],
    ['/a/?x=//b', '/a?x=//b'],
    ['//evil.test', '/evil.test'],
    ['///evil.test/', '/evil.test'],
    ['/\\evil.test', '/evil.test'],
    ['\\\\evil.test', '/evil.test'],
    ['\\/evil.test', '/evil.test'],
    ['/a\\b', '/a/b'],
  ] as const)('%j leads to %s', ([target, location]) => {
    expect(judgeTarget(target)).toEqual({ kind: 'redirect', location })
  })
})

describe('bad input is refused', () => {
  test.for([
    ['', 400],
    ['*', 400],
    ['a', 400],
    ['?x', 400],
    ['/%', 400],
    ['/%zz', 400],
    ['/%E4', 400],
    ['/\u00e4', 400],
    ['/%c0%ae', 400],
    ['/%00', 400],
    ['/a%0d%0aX: 1', 400],
    ['/%7f', 400],
    ['/%C2%9b31m', 400],
    ['/a/%c2%85', 400],
    ['/a\u0000', 400],
    ['/a?\u0007', 400],
    ['/\t/evil.test', 400],
    ['/a#b', 400],
    [`/${'a'.repeat(MAX_TARGET_BYTES)}`, 414],
  ] as const)('%j with %d', ([target, status]) => {
    expect(judgeTarget(target)).toMatchObject({ kind: 'refused', status })
  })
})

describe('for every target', () => {
  test('a redirect stays on this site and does not lead to itself', () => {
    assert(
      property(targets, (target) => {
        const verdict = judgeTarget(target)
        if (verdict.kind !== 'redirect') return
        expect(verdict.location).toMatch(/^\/(?![/\\])/)
        expect(verdict.location).not.toBe(target)
        expect(new URL(verdict.location, 'http://here.test').host).toBe('here.test')
        expect(judgeTarget(verdict.location).kind).toBe('ok')
      }),
      { numRuns: 2_000 },
    )
  })

  test('what is taken is decodable ASCII and would be taken unchanged again', () => {
    assert(
      property(targets, (target) => {
        const verdict = judgeTarget(target)
        if (verdict.kind !== 'ok') return
        const { pathname, search } = verdict
        expect(pathname).toMatch(/^\/(?:[!-~]*[!-.0-~])?$/)
        expect(() => decodeURIComponent(pathname)).not.toThrow()
        expect(judgeTarget(pathname + search)).toEqual(verdict)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('a Host', () => {
  test.for([
    'localhost',
    'localhost:3000',
    'EXAMPLE.test',
    'example.test.',
    'a-b_c.test:65535',
    '127.0.0.1:80',
    '[::1]',
    '[::1]:80',
  ])('%s is one', (host) => {
    expect(isValidHost(host)).toBe(true)
  })

  test.for([
    '',
    ' ',
    'a b',
    'a/b',
    'a?b',
    'a#b',
    'a\\b',
    'a@b',
    'a,b',
    'a:',
    'a:x',
    'a:65536',
    'a:1:2',
    'a..b',
    '.a',
    '-a',
    '[::1',
    '::1',
    '[x]',
    'a\r\nb',
    'a\u0000',
    '\u00e4.test',
    '1.2.3.999',
    '1.2.3.4.5',
    '99999999999',
    '[::::]',
    '[1::2::3]',
  ])('%j is none', (host) => {
    expect(isValidHost(host)).toBe(false)
  })
})

describe('an absolute target', () => {
  test.for([
    ['http://a.test', 'a.test', '/'],
    ['HTTPS://a.test:1/b?c', 'a.test:1', '/b?c'],
    ['http://a.test?x', 'a.test', '/?x'],
    ['http://a.test\\b', 'a.test', '\\b'],
    ['http:///b', '', '/b'],
    ['http://u@a.test/', 'u@a.test', '/'],
  ] as const)('%s is split', ([target, host, rest]) => {
    expect(splitAbsoluteTarget(target)).toEqual({ host, target: rest })
  })

  test.for(['/', '//a.test', 'ftp://a.test/', 'http:/a', '/http://a.test'])('%s is none', (target) => {
    expect(splitAbsoluteTarget(target)).toBeUndefined()
  })
})
