import { describe, expect, it, vi } from 'vitest'
import type { RuleSet } from '../../../src/shared/rules/rule-types.ts'
import { loadExpressionEngine } from '../../../src/server/routes/decide/expression-engine.ts'
import { createRouteTable } from '../../../src/shared/route-table.ts'
import { compileRules } from '../../../src/shared/rules/compile-rules.ts'
import { headersFor } from '../../../src/shared/rules/headers-for.ts'
import { redirectFor } from '../../../src/shared/rules/redirect-for.ts'
import { resolveRoute } from '../../../src/shared/rules/resolve-route.ts'
import { readRulePath } from '../../../src/shared/rules/rule-path.ts'
import { compileSource } from '../../../src/shared/rules/rule-source.ts'
import { capturedValues, refuse, ruleErrorOf, ruleRequest } from './rule-vectors.ts'

const page = () => Promise.resolve({})
const LONGEST_PATH = 8_192 // bytes; longer targets are refused before any rule

function redirect(rule: Partial<NonNullable<RuleSet['redirects']>[number]>, target: string, headers = {}) {
  const rules = compileRules({ redirects: [{ permanent: false, ...rule } as never] }, loadExpressionEngine)
  return redirectFor(rules, ruleRequest(target, headers))
}

function resolve(rules: RuleSet, routes: readonly string[], target: string, headers = {}) {
  const table = createRouteTable(Object.fromEntries(routes.map((pattern) => [pattern, { page }])))
  return resolveRoute(compileRules(rules, loadExpressionEngine), table.match, ruleRequest(target, headers))
}

function captured(source: string, path: string) {
  return capturedValues(compileSource(source, refuse, loadExpressionEngine).match(readRulePath(path)))
}

describe('sources', () => {
  it.each([
    ['/admin', '/%61dmin', {}],
    ['/admin', '/%41DMIN', {}],
    ['/%61dmin', '/admin', {}],
    ['/a/:id', '/a/%7Euser', { id: '%7Euser' }],
    ['/%61/:id/:rest*', '/a/%62%2Fc/%64/e%2D%2D', { id: '%62%2Fc', rest: ['%64', 'e%2D%2D'] }],
    ['/dl/:name.:ext(png|jpg)', '/dl/c%61t%2Epng', { name: 'c%61t', ext: 'png' }],
    ['/n/:n(\\d+)/:m(\\d+)', '/n/%31%32/3%34', { n: '%31%32', m: '3%34' }],
    ['/a', '/%2561', null],
    ['/a/b', '/a%2Fb', null],
    ['/caf\u00e9', '/caf%c3%a9', {}],
    ['/a b', '/a%20b', {}],
  ])('%s on %s, however the path is spelled', (source, path, expected) => {
    expect(captured(source, path)).toEqual(expected)
  })

  it('takes no longer than the path allows, however the repeats can share it', () => {
    const slashes = '/a'.repeat(LONGEST_PATH / 2)
    expect(captured('/:a*/x/:b*/y/:c*/z', slashes)).toBeNull()
    expect(captured('/:a(.*)x:b(.*)x:c(.*)y', slashes)).toBeNull()
    expect(captured('/:a((?:(?:[a-z]+)+/?)+)!', slashes)).toBeNull()
    expect(captured('/:a*/:b*/:c*', slashes)).toMatchObject({ a: { length: LONGEST_PATH / 2 } })
    expect(captured('/:a-:b-:c-:d', `/${'-'.repeat(LONGEST_PATH)}`)).toBeNull()
  })

  it('finds the written text of each of many segments without a look at all that stand before it', () => {
    const COUNT = 300_000 // a look at each escape for each of them would take minutes
    const path = readRulePath('/%61b%2F'.repeat(COUNT))
    const length = '/ab%2F'.length
    expect(path.canonical).toHaveLength(COUNT * length)
    const found = Array.from({ length: COUNT }, (_, at) => path.written(at * length, (at + 1) * length))
    expect(new Set(found)).toEqual(new Set(['/%61b%2F']))
    expect([path.written(1, 2), path.written(2, 3), path.written(1, 1)]).toEqual(['%61', 'b', ''])
  })

  it('tries only the rules that a path can match, in the order of the table', () => {
    const rules = compileRules(
      {
        redirects: [
          { source: '/b/:x', destination: '/1', permanent: false },
          { source: '/:any/2', destination: '/2', permanent: false },
          { source: '/A/:x', destination: '/3', permanent: false },
          { source: '/a-:x/4', destination: '/4', permanent: false },
          { source: '/:path*', destination: '/5', permanent: false },
          { source: '/a/9', destination: '/6', permanent: false },
        ],
      },
      loadExpressionEngine,
    )
    const landing = (target: string) => redirectFor(rules, ruleRequest(target))
    expect(landing('/b/2')).toMatchObject({ location: '/1' })
    expect(landing('/a/2')).toMatchObject({ location: '/2' })
    expect(landing('/a/9')).toMatchObject({ location: '/3' })
    expect(landing('/A-1/4')).toMatchObject({ location: '/4' })
    expect(landing('/')).toMatchObject({ location: '/5' })
  })

  it('without rules, neither query nor cookies nor headers are looked at', () => {
    const rules = compileRules(undefined, loadExpressionEngine)
    const request = {
      pathname: '/',
      get search(): string {
        throw new Error('search')
      },
      host: '',
      header: vi.fn<(name: string) => string | undefined>(),
      cookies: vi.fn<() => Record<string, string>>(),
    }
    expect(redirectFor(rules, request)).toBeUndefined()
    expect(headersFor(rules, request)).toEqual([])
    expect(request.header).not.toHaveBeenCalled()
    expect(request.cookies).not.toHaveBeenCalled()
  })
})

describe('redirects', () => {
  it('what a condition captured is text: it can begin neither a segment nor a query', () => {
    const rule = { source: '/go', has: [{ type: 'query', key: 'to', value: '(?<to>.*)' }] } as const
    const sent = (destination: string, to: string) =>
      redirect({ ...rule, destination }, `/go?to=${encodeURIComponent(to)}`)
    expect(sent('/:to', '/evil.test')).toMatchObject({ location: '/%2Fevil.test?to=%2Fevil.test' })
    expect(sent('/:to', '\\evil.test')).toMatchObject({ location: '/%5Cevil.test?to=%5Cevil.test' })
    expect(sent('/x/:to', 'a?b#c')).toMatchObject({ location: '/x/a%3Fb%23c?to=a%3Fb%23c' })
    expect(sent('/x/:to', '50%')).toMatchObject({ location: '/x/50%25?to=50%25' })
    expect(sent('/x/:to*', '/a//b c/')).toMatchObject({ location: '/x/a/b%20c?to=%2Fa%2F%2Fb%20c%2F' })
    expect(sent('/x#:to', 'a b\r\nc')).toBeUndefined()
    expect(sent('/x#:to', 'a b')).toMatchObject({ location: '/x?to=a%20b#a%20b' })
  })

  it('a host is made of labels only, whoever names them', () => {
    const rule = { source: '/:h/:p*', destination: 'https://:h.internal.test:8443/:p*' }
    expect(redirect(rule, '/shop/a')).toMatchObject({ location: 'https://shop.internal.test:8443/a' })
    for (const host of ['evil.test%2f', 'evil.test%23', 'a@evil.test', 'evil.test', '-a', 'a_b', 'a:1', '%61']) {
      expect(redirect(rule, `/${host}/a`)).toMatchObject({ fault: 'bad-host-value', status: 400, source: '/:h/:p*' })
    }
    const whole = { source: '/:h/:p*', destination: 'http://:h/:p*' }
    for (const host of ['2130706433', '0x7f000001', '127']) {
      expect(redirect(whole, `/${host}/a`)).toMatchObject({ fault: 'bad-host-value' })
    }
  })

  it('a list where the destination has no star is the table’s fault', () => {
    expect(redirect({ source: '/a/:p*', destination: '/b/:p' }, '/a/1')).toMatchObject({
      fault: 'multi-match-needs-star',
      status: 500,
    })
    expect(redirect({ source: '/a/:p*', destination: '/b?x=:p' }, '/a/1/2')).toMatchObject({ status: 500 })
  })

  it.each([
    ['/x/:lang?/about', '/:lang/about', '/x/about', '/about'],
    ['/x/:a?', '/y/v:a', '/x', '/y/v'],
    ['/x/:a?', '/y/:a-:a', '/x', '/y/-'],
    ['/x/:a?', '/y?q=:a&r=1', '/x?q=0', '/y?q=0&r=1'],
    ['/x/:a?', '/y?q=is-:a', '/x', '/y?q=is-'],
    ['/x/:a?', '/y#:a', '/x', '/y'],
    ['/x/:rest(.*)', '/y/:rest', '/x/a/b', '/y/a/b'],
    ['/x/:rest(.*)', '/y/:rest/', '/x/a', '/y/a/'],
    ['/x', '//evil.test', '/x', '/evil.test'],
    ['/x', '/docs\\(v1\\)\\:a', '/x', '/docs(v1):a'],
    ['/x', 'https://example.com', '/x?a=1', 'https://example.com/?a=1'],
    ['/x', 'https://[::1]:3000/a', '/x', 'https://[::1]:3000/a'],
    ['/x', '/y?u=https://a.test:80/:z', '/x', '/y?u=https%3A%2F%2Fa.test%3A80%2F%3Az'],
    ['/x/:a', '/y?ab=:ab&a=:a', '/x/1', '/y?ab=:ab&a=1'],
    ['/x', '/y', '/x?bad=%zz&"=<>', '/y?bad=%25zz&%22=%3C%3E'],
  ])('%s to %s sends %s to %s', (source, destination, target, location) => {
    const sent = redirect({ source, destination }, target)
    const decoded = (text: string) => [text.split(/[?#]/)[0], ...new URLSearchParams(/\?[^#]*/.exec(text)?.[0])]
    if (sent === undefined || sent.fault !== undefined) throw new Error(sent?.fault ?? 'no redirect')
    expect(decoded(sent.location)).toEqual(decoded(location))
    expect(sent.location).toMatch(/^[\x21-\x7e]+$/)
  })

  it('never touch the runtime’s own URLs', () => {
    expect(redirect({ source: '/:path*', destination: '/x' }, '/_m')).toBeUndefined()
    expect(redirect({ source: '/:path*', destination: '/x' }, '/_m/data/a')).toBeUndefined()
    expect(redirect({ source: '/:path*', destination: '/x' }, '/_more')).toMatchObject({ location: '/x' })
  })

  it('conditions on the prototype of objects never hold', () => {
    const rule = { source: '/x', destination: '/y' }
    for (const type of ['query', 'cookie', 'header'] as const) {
      expect(redirect({ ...rule, has: [{ type, key: 'constructor' }] }, '/x')).toBeUndefined()
      expect(redirect({ ...rule, has: [{ type, key: '__proto__' }] }, '/x')).toBeUndefined()
    }
    expect(redirect({ ...rule, has: [{ type: 'query', key: '__proto__' }] }, '/x?__proto__=1')).toBeDefined()
  })

  it('a host in brackets is compared without its port', () => {
    const has = [{ type: 'host', value: '\\[::1\\]' }] as const
    expect(redirect({ source: '/x', destination: '/y', has }, '/x', { host: '[::1]:3000' })).toBeDefined()
  })
})

describe('headers', () => {
  const rules = compileRules(
    {
      headers: [
        {
          source: '/:path*',
          headers: [
            { key: 'X-A', value: 'first' },
            { key: 'Set-Cookie', value: 'a=1' },
          ],
        },
        {
          source: '/blog/:slug/:rest*',
          headers: [
            { key: 'x-a', value: 'of :slug' },
            { key: 'x-rest', value: ':rest* :unknown 12:30' },
            { key: 'x-:slug', value: 'named' },
            { key: 'set-cookie', value: 'b=2' },
          ],
        },
        {
          source: '/echo',
          has: [{ type: 'query', key: 'v', value: '(?<v>[^]*)' }],
          headers: [
            { key: 'x-v', value: ':v' },
            { key: 'x-:v', value: '1' },
          ],
        },
      ],
    },
    loadExpressionEngine,
  )

  it('all rules that apply set theirs, and the later one wins', () => {
    expect(headersFor(rules, ruleRequest('/blog/hi/a/b'))).toEqual([
      ['x-a', 'of hi'],
      ['x-rest', 'a/b :unknown 12:30'],
      ['x-hi', 'named'],
      ['Set-Cookie', 'a=1'],
      ['set-cookie', 'b=2'],
    ])
  })

  it.each([
    ['/a/:slug', String.raw`re\:q \\:x \:slug=:slug`, String.raw`re\:q \\:x :slug=mill`],
    ['/a/mill', String.raw`re\:q \:slug`, String.raw`re\:q \:slug`],
  ])('%s: a backslash goes only from before a colon that would be a param', (source, value, sent) => {
    const quoting = compileRules({ headers: [{ source, headers: [{ key: 'x-a', value }] }] }, loadExpressionEngine)
    expect(headersFor(quoting, ruleRequest('/a/mill'))).toEqual([['x-a', sent]])
  })

  it.each([
    ['Content-Security-Policy', 'frame-ancestors https://:to.shop.test', '/to/evil.test;', 'evil.test%3B'],
    ['content-security-policy', 'img-src https://:to', '/to?v=a.test https://evil.test', 'a.test%20https://evil.test'],
    ['Set-Cookie', 'partner=:to; Path=/', '/to/x;Domain=shop.test', 'x%3BDomain=shop.test'],
    ['Cache-Tag', 'file::to', '/to/a,home', 'a%2Chome'],
    ['Link', '</css/:to.css>; rel=preload', '/to?v=a>"\\', 'a%3E%22%5C'],
    ['x-own', ':to', '/to?v=en,de; q="1"', 'en,de; q="1"'],
  ])('%s: %s gets what %s captures as one member', (key, value, target, sent) => {
    const has = [{ type: 'query', key: 'v', value: '(?<to>.*)' }] as const
    const headers = [{ key, value }]
    const ofBoth = [
      { source: '/to/:to', headers },
      { source: '/to', has, headers },
    ]
    const filled = headersFor(compileRules({ headers: ofBoth }, loadExpressionEngine), ruleRequest(target))
    expect(filled).toEqual([[key, value.replace(':to', () => sent)]])
  })

  it('no visitor can break a line or name a header that is none', () => {
    const echoed = headersFor(rules, ruleRequest('/echo?v=a%0D%0AX-Evil%3A%201%E4%BD%A0'))
    expect(echoed).toContainEqual(['x-v', 'a%0D%0AX-Evil: 1%E4%BD%A0'])
    expect(echoed.map(([name]) => name)).toEqual(['X-A', 'x-v', 'Set-Cookie'])
  })
})

describe('rewrites', () => {
  it('another origin gets path and query as they were written', () => {
    const rules: RuleSet = { rewrites: [{ source: '/api/:path*', destination: 'http://up.test:81/v1/:path*' }] }
    const resolution = resolve(rules, [], '/api/a%7Eb/c%20d?x=%20&y')
    expect(resolution).toMatchObject({ kind: 'proxy', url: { href: 'http://up.test:81/v1/a%7Eb/c%20d?x=%20&y' } })
  })

  it('no request climbs out of the path that the table wrote for another origin', () => {
    const rules: RuleSet = { rewrites: [{ source: '/api/:path*', destination: 'http://up.test/v1/:path*' }] }
    for (const path of ['/api/../x', '/api/%2e%2e/x', '/api/a/.%2E', '/api/.']) {
      expect(resolve(rules, [], path)).toMatchObject({ kind: 'bad-destination', fault: 'bad-path-value', status: 400 })
    }
    expect(resolve(rules, [], '/api/..a')).toMatchObject({ kind: 'proxy' })
  })

  it('no request chooses the host', () => {
    const rules: RuleSet = { rewrites: [{ source: '/:h/:p*', destination: 'https://:h.internal/:p*' }] }
    for (const path of ['/evil.test%2f/', '/evil.test%23', '/a@evil.test/', '/evil.test:80']) {
      expect(resolve(rules, [], path)).toMatchObject({ kind: 'bad-destination', status: 400 })
    }
  })

  it('a rewrite to no page goes on with the rules below it, on the new path and query', () => {
    const rules: RuleSet = {
      rewrites: [
        { source: '/c', destination: '/wrong' },
        { source: '/a', destination: '/b?made=1' },
        { source: '/b', has: [{ type: 'query', key: 'made' }], destination: '/c/' },
        { source: '/c', destination: '/page' },
      ],
    }
    expect(resolve(rules, ['/page'], '/a?kept=%7E')).toMatchObject({
      kind: 'route',
      pathname: '/page',
      search: '?kept=%7E&made=1',
      match: { route: { pattern: '/page' } },
    })
    expect(resolve(rules, [], '/a')).toEqual({ kind: 'none' })
  })

  it('a path that does not decode is told from one that is not there', () => {
    const rules: RuleSet = { rewrites: [{ source: '/w/:id', destination: '/p/:id' }] }
    expect(resolve(rules, ['/p/[id]'], '/w/%C3')).toEqual({ kind: 'undecodable' })
    expect(resolve({}, ['/p/[id]'], '/p/%C3')).toEqual({ kind: 'undecodable' })
  })

  it('a colon that is meant literally stands in a hash behind a backslash', () => {
    const rule = { source: '/a/:b', destination: '/c#line\\:5:b' }
    expect(redirect(rule, '/a/x')).toMatchObject({ location: '/c#line:5x' })
  })

  it('a URL that no rule touches keeps its query to the letter', () => {
    const rules: RuleSet = { rewrites: [{ source: '/x', destination: '/y' }] }
    expect(resolve(rules, ['/p'], '/p?a=+%zz&&b')).toMatchObject({ kind: 'route', search: '?a=+%zz&&b' })
  })
})

describe('the message of a faulty rule', () => {
  it.each<[unknown, string, RegExp]>([
    [{ redirects: {} }, 'rules-not-array', /^redirects: /],
    [() => ({ redirects: [] }), 'rules-not-array', /^rules: .*not a function/],
    [{ redirect: [] }, 'unknown-field', /"redirect".*redirects, rewrites, headers/],
    [{ rewrites: { afterfiles: [] } }, 'unknown-field', /"afterfiles".*beforeFiles, afterFiles, fallback/],
    [
      { rewrites: { fallback: [{ source: '/a/:b', destination: '/c/:d' }] } },
      'destination-unknown-params',
      /^rewrites\.fallback\[0\] \(source "\/a\/:b"\): .*:d/,
    ],
    [{ rewrites: [{ source: '/a', destination: 'https://user@x.test/' }] }, 'destination-unparsable', /credentials/],
    [{ rewrites: [{ source: '/a', destination: 'https://x.test:99999/' }] }, 'destination-unparsable', /host/],
    [{ rewrites: [{ source: '/a', destination: 'https://:h.test/' }] }, 'destination-unknown-params', /:h/],
    [{ rewrites: [{ source: '/a', destination: '/b/:c(' }] }, 'destination-unparsable', /parse/],
    [
      { redirects: [{ source: '/a', destination: '/b#:c', permanent: true }] },
      'destination-unknown-params',
      /:c.*backslash/,
    ],
    [{ rewrites: [{ source: '/a/:c', destination: 'https://x.test/#:c:d' }] }, 'destination-unknown-params', /:d/],
    [
      { redirects: [{ source: '/a', destination: 'javascript:alert(1)', permanent: true }] },
      'destination-bad-start',
      /http/,
    ],
    [
      {
        redirects: [
          { source: '/a', destination: '/b', permanent: true, has: [{ type: 'query', key: 'q', value: '(' }] },
        ],
      },
      'has-invalid',
      /has\[0\].*regular expression/,
    ],
    [
      { redirects: [{ source: '/a', destination: '/b', permanent: true, missing: { type: 'host' } }] },
      'missing-invalid',
      /missing is not a list/,
    ],
    [
      { redirects: [{ source: '/a', destination: '/b', permanent: true, has: [{ type: 'host' }] }] },
      'has-invalid',
      /host/,
    ],
    [{ redirects: [{ source: '/a', destination: '/b', permanent: true, has: [null] }] }, 'has-invalid', /object/],
    [{ redirects: [{ source: '/a', destination: '/b', permanent: true, locale: 'en' }] }, 'unknown-field', /locale/],
    [{ redirects: [{ source: '/:a((?<b>x))', destination: '/b', permanent: true }] }, 'source-unparsable', /captures/],
    [{ rewrites: [{ source: '/a', destination: 'http://x.test/', websocket: true }] }, 'unknown-field', /cross-site/],
    [{ rewrites: [{ source: '/a', destination: '/b', websocket: 'cross-site' }] }, 'unknown-field', /this site/],
    [{ rewrites: [{ source: '/a', destination: '/b', encodedSlashes: true }] }, 'unknown-field', /this site/],
    [
      { rewrites: [{ source: '/a', destination: 'http://x.test/', encodedSlashes: false }] },
      'unknown-field',
      /be true/,
    ],
    [{ headers: [{ source: '/a', headers: [{ key: 'x y', value: '' }] }] }, 'header-item-invalid', /x y/],
    [{ headers: [{ source: '/a', headers: [{ key: 'x', value: 'a\nb' }] }] }, 'header-item-invalid', /headers\[0\]/],
    [
      { headers: [{ source: '/a', headers: [{ key: 'Content-Length', value: '1' }] }] },
      'header-item-invalid',
      /server/,
    ],
  ])('%j: %s', (rules, kind, message) => {
    const error = ruleErrorOf(() => compileRules(rules as RuleSet, loadExpressionEngine))
    expect(error?.kind).toBe(kind)
    expect(error?.message).toMatch(message)
  })
})
