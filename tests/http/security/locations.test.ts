/** Replays B and C: redirects that leave the site, and requests that name another host than ours. See `README.md`. */
import { describe, expect, test } from 'vitest'
import { getRequest } from '../../support/raw-http.ts'
import type { RawResponse } from '../../support/raw-response.ts'
import { replayServer, steadyText } from '../../support/replay-server.ts'

const site = replayServer()
const MOST_REDIRECTS = 5

/** Follows redirects as a browser on `http://localhost` would; it must never leave. */
async function follow(target: string): Promise<RawResponse> {
  let at = target
  for (let hop = 0; hop < MOST_REDIRECTS; hop += 1) {
    const answer = await site.get(at)
    const location = answer.header('location')
    if (location === undefined) return answer
    const url = new URL(location, 'http://localhost')
    expect([at, url.host]).toEqual([at, 'localhost'])
    at = url.pathname + url.search
  }
  throw new Error(`${target} redirects for ever`)
}

test.for([
  '//evil.test',
  '//evil.test/',
  '///evil.test',
  '///evil.test/..',
  '////evil.test//',
  '//evil.test/%2e%2e',
  '//evil.test/..;/',
  '/\\evil.test/',
  '\\\\evil.test/',
  '\\/evil.test/',
  '/%2fevil.test/',
  '/%2f%2fevil.test/',
  '/%5cevil.test/',
  '/.//evil.test/',
  '/..//evil.test/',
  '/lab/..//evil.test/',
  '/lab//evil.test/',
  '//evil.test:80/',
  '//user@evil.test/',
  '//evil.test%2f@localhost/',
  '//evil.test?/',
  '//evil.test/?a=//evil.test//',
  '//',
  '//:80/',
  '//[',
  '/_m/data//evil.test/',
  '/_m//assets//evil.test/',
])('B1 B9 tidying the path leads to no other site: %j', async (target) => {
  const answer = await follow(target)
  expect(answer.status).toBeOneOf([200, 400, 404])
})

test.for([
  '/%0d/evil.test/',
  '/%0a/evil.test/',
  '/%0d%0a/evil.test/',
  '/%09/evil.test/',
  '/%00/evil.test/',
  '/%1f/evil.test/',
  '/%7f/evil.test/',
  '/%0d%0aLocation:%20http://evil.test/',
  '/%0d%0a%0d%0a<script>alert(1)</script>/',
  '/lab/old/%0d%0aSet-Cookie:a=b',
  '/lab/old/%0a',
  '/_m/data/%09/evil.test/',
])('B3 control characters in the path: %j', async (target) => {
  const answer = await site.get(target)
  expect(answer.status).toBe(400)
  expect(answer.header('set-cookie')).toBeUndefined()
})

test.for([
  ['/lab/old/%2f%2fevil.test', '/lab/params/%2F%2Fevil.test'],
  ['/lab/old/%5c%5cevil.test', '/lab/params/%5C%5Cevil.test'],
  ['/lab/old/..%2f..%2f..%2f', undefined],
  ['/lab/old/%22%3E%3Cimg%20src=x%20onerror=alert(1)%3E', undefined],
  ['/lab/old/x?to=//evil.test', undefined],
  ['/lab/old/@x', undefined],
  ['/lab/old/%E2%80%8B', undefined],
] as const)('B4 B10 a redirect rule fills a param in and stays here: %s', async ([target, expected]) => {
  const answer = await site.get(target)
  expect(answer.status).toBe(308)
  // A query is carried on as it came, so it may name whom it likes; the path may not.
  const location = answer.header('location') ?? ''
  expect(location.split('?')[0]).toMatch(/^\/lab\/params\/[^/<>"\\]+$/)
  if (expected !== undefined) expect(location.toLowerCase()).toBe(expected.toLowerCase())
  expect(answer.body.length).toBe(0)
})

describe('C2 the error pages are made here, not fetched from the Host', () => {
  test.for(['/nope', '/lab/not-found', '/lab/forbidden', '/lab/crash/loader', '/lab/crash/render', '/lab/crash/late'])(
    '%s',
    async (target) => {
      site.permit(500)
      const host = `127.0.0.1:${site.strangerPort}`
      const named = await site.get(target, { 'X-Forwarded-Host': host, Forwarded: `host=${host}` }, host)
      const plain = await site.get(target)
      expect(named.status).toBe(plain.status)
      expect(named.text).toMatch(/data-testid="(?:fallback|error)"|Application error|\$RX\(/)
    },
  )
})

test('C3 a Host that nobody listens on kills nothing', async () => {
  for (const target of ['/', '/docs', '/robots.txt', '/lab/feed.json', '/sitemap.xml']) {
    expect((await site.get(target, {}, '127.0.0.1:1')).status).toBe(200)
    expect((await site.get(target, {}, '[')).status).toBe(400)
    expect((await site.get(target, {}, '[::1')).status).toBe(400)
  }
})

test('C6 a Location in the request is nothing to the server', async () => {
  for (const target of ['/', '/lab/params/x', '/_m/data/lab/params/x', '/robots.txt']) {
    const plain = await site.get(target)
    const named = await site.get(target, { Location: 'http://evil.test/', 'X-Accel-Redirect': '/etc/passwd' })
    expect(steadyText(named)).toBe(steadyText(plain))
  }
})

const FORWARDING = [
  { 'X-Forwarded-Host': 'evil.test' },
  { 'X-Forwarded-Host': 'good.test:8080/../../evil?x=' },
  { 'X-Forwarded-Host': 'evil.test, localhost' },
  { 'X-Forwarded-Proto': 'x:admin?' },
  { 'X-Forwarded-Proto': 'javascript' },
  { 'X-Forwarded-Proto': 'https' },
  { 'X-Forwarded-Port': '80/' },
  { 'X-Forwarded-Prefix': '//evil.test' },
  { 'X-Forwarded-Scheme': 'nothttps' },
  { 'X-Forwarded-Server': 'evil.test' },
  { 'X-Forwarded-For': '127.0.0.1, evil.test' },
  { Forwarded: 'host=evil.test;proto=https' },
  { 'X-Original-URL': '//evil.test/' },
  { 'X-Rewrite-URL': '/lab/private' },
  { 'X-HTTP-Method-Override': 'DELETE' },
  { 'X-Host': 'evil.test' },
  { 'X-Real-IP': 'evil.test' },
  { 'X-Request-Id': 'evil.test' },
  { 'Content-Security-Policy': "script-src 'nonce-evil.test'" },
  { 'X-Nonce': 'evil.test' },
  { Referer: 'http://evil.test/' },
  { Via: '1.1 evil.test' },
] as const

test.for(FORWARDING)('C8 G8 G15 a header that no proxy of ours sent changes nothing: %j', async (headers) => {
  for (const target of ['/', '/lab/params/x', '/nope', '/sitemap.xml', '/robots.txt', '/lab/feed.json', '/lab/old/x']) {
    const plain = await site.get(target)
    expect(steadyText(await site.get(target, headers))).toBe(steadyText(plain))
  }
  const data = await site.get('/_m/data/lab/params/x')
  expect(steadyText(await site.get('/_m/data/lab/params/x', headers))).toBe(steadyText(data))
})

describe('with a configured origin', () => {
  const behind = replayServer({ env: { ORIGIN: 'https://good.test', TRUST_PROXY: '127.0.0.1' } })
  const proxied = { 'X-Forwarded-Host': 'good.test', 'X-Forwarded-Proto': 'https' }

  test.for([
    { 'X-Forwarded-Host': 'good.test:8080/../../evil?x=' },
    { 'X-Forwarded-Host': 'evil.test' },
    { 'X-Forwarded-Host': 'good.test, evil.test' },
    { 'X-Forwarded-Host': 'good.test.evil.test' },
    { 'X-Forwarded-Host': 'evilgood.test' },
    { 'X-Forwarded-Host': 'good.test@evil.test' },
    { 'X-Forwarded-Host': 'good.test:444' },
    { 'X-Forwarded-Host': '' },
  ])('G8 a proxy that passes a bad host on gets 400: %j', async (headers) => {
    const answer = await behind.get('/lab', { ...proxied, ...headers }, 'inner.test')
    expect(answer.status).toBe(400)
  })

  test.for([
    { 'X-Forwarded-Proto': 'x:admin?' },
    { 'X-Forwarded-Proto': 'javascript' },
    { 'X-Forwarded-Proto': 'http' },
    { 'X-Forwarded-Port': '80/' },
    { 'X-Forwarded-Port': '666' },
    { 'X-Forwarded-Prefix': '/evil.test' },
    {},
  ])('C8 absolute URLs are made of the configured origin: %j', async (headers) => {
    for (const target of ['/sitemap.xml', '/robots.txt', '/lab/feed.json']) {
      const { status, text } = await behind.get(target, { ...proxied, ...headers }, 'inner.test')
      expect(status).toBe(200)
      const origins = [...text.matchAll(/[a-z][\w+.-]*:\/\/[^/\s"<]+/g)].map(([origin]) => origin)
      const own = new Set(origins.filter((origin) => !/^https?:\/\/(?:www\.sitemaps|jsonfeed)\.org$/.test(origin)))
      expect([...own]).toEqual(['https://good.test'])
    }
  })

  test('A13 the configured host alone is ours: no longer one, no shorter one', async () => {
    for (const host of ['notgood.test', 'good.test.evil.test', 'ood.test', 'good.test..', 'good.tes', 'x.good.test']) {
      for (const target of ['/lab', '/_m/data/lab', '/_m/build.json', '/robots.txt']) {
        expect((await behind.get(target, {}, host)).status).toBe(400)
      }
    }
    expect((await behind.get('/lab', {}, 'good.test')).status).toBe(200)
    const absolute = getRequest('http://evil.test/lab', {}, 'good.test')
    expect((await behind.send(absolute)).status).toBe(400)
  })
})
