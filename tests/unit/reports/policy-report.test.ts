import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseEnvelope } from '../../../src/server/reports/intake/envelope.ts'
import { isPolicyReport, policyEnvelope, readPolicyReport } from '../../../src/server/reports/relay/policy-report.ts'

/** As Chromium 156 sends them. */
const OLD = {
  'csp-report': {
    'document-uri': 'https://shop.test/mills/7?token=secret#part',
    referrer: 'https://shop.test/?q=secret',
    'violated-directive': 'script-src-elem',
    'effective-directive': 'script-src-elem',
    'original-policy': "script-src 'nonce-abc'",
    disposition: 'enforce',
    'blocked-uri': 'https://evil.test/x.js?cookie=secret',
    'status-code': 200,
    'script-sample': '',
    'source-file': 'https://shop.test/_m/assets/a.js?x=1',
    'line-number': 12,
  },
}
const NEW = {
  type: 'csp-violation',
  age: 10,
  url: 'https://shop.test/mills/7?token=secret',
  user_agent: 'Browser/1',
  body: {
    documentURL: 'https://shop.test/mills/7?token=secret',
    effectiveDirective: 'require-trusted-types-for',
    blockedURL: 'trusted-types-sink',
    sample: 'Element innerHTML|<b>x',
    disposition: 'enforce',
  },
}

describe('a report of a browser', () => {
  test('is known by its type alone', () => {
    for (const type of ['application/csp-report', 'application/reports+json', 'Application/CSP-Report; charset=utf-8'])
      expect(isPolicyReport(type)).toBe(true)
    for (const type of [undefined, '', 'application/json', 'application/x-sentry-envelope', 'text/plain'])
      expect(isPolicyReport(type)).toBe(false)
  })

  test('is read in both formats, without the queries of its URLs', () => {
    expect(readPolicyReport(JSON.stringify(OLD))).toEqual([
      {
        documentUrl: 'https://shop.test/mills/7',
        directive: 'script-src-elem',
        blocked: 'https://evil.test/x.js',
        source: 'https://shop.test/_m/assets/a.js:12',
        target: 'https://evil.test',
        count: 1,
      },
    ])
    expect(readPolicyReport(JSON.stringify([NEW]))).toEqual([
      {
        documentUrl: 'https://shop.test/mills/7',
        directive: 'require-trusted-types-for',
        blocked: 'trusted-types-sink',
        sample: 'Element innerHTML|<b>x',
        target: 'trusted-types-sink',
        count: 1,
      },
    ])
  })

  test('of browsers without `effective-directive` names the first word of the violated one', () => {
    const report = { 'csp-report': { 'violated-directive': "img-src 'self'", 'blocked-uri': 'data' } }
    expect(readPolicyReport(JSON.stringify(report))).toMatchObject([{ directive: 'img-src', blocked: 'data' }])
  })

  test('says each violation once, and no more than twenty of them', () => {
    expect(readPolicyReport(JSON.stringify([NEW, NEW]))).toHaveLength(1)
    const many = Array.from({ length: 50 }, (_, at) => ({
      ...NEW,
      body: { ...NEW.body, blockedURL: `https://${at}.test` },
    }))
    expect(readPolicyReport(JSON.stringify(many))).toHaveLength(20)
  })

  test('says once, with their number, what is alike: of one directive and one origin', () => {
    const blocked = (blockedURL: string) => ({
      ...NEW,
      body: { ...NEW.body, effectiveDirective: 'img-src', blockedURL },
    })
    const paths = Array.from({ length: 9 }, (_, at) => blocked(`https://cdn.test/${at}.png?${at}`))
    const others = ['data', 'data:image/png', 'blob', 'data', '', 'inline', 'x y', '\u{1f600}', 'https://'].map(blocked)
    const read = readPolicyReport(JSON.stringify([...paths, ...others]))
    expect(read?.map(({ target, blocked: first, count }) => [target, first, count])).toEqual([
      ['https://cdn.test', 'https://cdn.test/0.png', 9],
      ['data:', 'data', 3],
      ['blob:', 'blob', 1],
      ['inline', 'inline', 2],
      ['other', 'x y', 3],
    ])
  })

  test.for([
    ['an extension', { ...NEW.body, sourceFile: 'chrome-extension://abc/content.js' }],
    ['an extension of another browser', { ...NEW.body, blockedURL: 'moz-extension' }],
    ['no directive', { ...NEW.body, effectiveDirective: '' }],
    ['a directive that is none', { ...NEW.body, effectiveDirective: '<script>' }],
    ['a directive that nobody knows', { ...NEW.body, effectiveDirective: 'made-up-src' }],
  ] as const)('is nothing where it speaks of %s', ([, body]) => {
    expect(readPolicyReport(JSON.stringify([{ ...NEW, body }]))).toEqual([])
  })

  test('is nothing where it is about something else', () => {
    expect(readPolicyReport(JSON.stringify([{ type: 'deprecation', body: {} }, {}]))).toEqual([])
  })

  test.for(['', 'x', '1', 'null', '"text"', '[1]', '[null]', '[[]]'])('%j is no report', (text) => {
    expect(readPolicyReport(text)).toBeUndefined()
  })

  test('of any shape is read or refused, never thrown', () => {
    const isRead = (text: string): boolean => Array.isArray(readPolicyReport(text) ?? [])
    expect(fc.check(fc.property(fc.json(), isRead)).failed).toBe(false)
    const names = Object.keys(OLD['csp-report'])
    const shaped = fc.record({ 'csp-report': fc.dictionary(fc.constantFrom(...names), fc.jsonValue()) })
    expect(fc.check(fc.property(shaped, (report) => isRead(JSON.stringify(report)))).failed).toBe(false)
  })
})

test('a violation is an event that is grouped by directive and culprit', () => {
  const [violation] = readPolicyReport(JSON.stringify(OLD)) ?? []
  if (violation === undefined) throw new Error('Nothing was read')
  const bytes = policyEnvelope(violation, { release: 'r1', environment: 'production', now: 5_000 })
  const [item] = parseEnvelope(bytes).items
  expect(item?.type).toBe('event')
  expect(JSON.parse(item?.payload.toString() ?? '')).toMatchObject({
    timestamp: 5,
    level: 'warning',
    logger: 'csp',
    release: 'r1',
    message: 'The policy has kept https://evil.test/x.js from script-src-elem',
    fingerprint: ['csp', 'script-src-elem', 'https://evil.test'],
    request: { url: 'https://shop.test/mills/7' },
  })
  expect(bytes.toString()).not.toContain('secret')
})
