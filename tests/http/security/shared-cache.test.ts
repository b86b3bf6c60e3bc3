/** Replays G behind a cache that visitors share: nginx keeps whatever it may keep by the headers. See `README.md`. */
import { hash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { actionId } from '../../../src/server/routes/actions/action-id.ts'
import { startBuiltServer, type BuiltServer } from '../../support/built-server.ts'
import { freePorts } from '../../support/free-ports.ts'
import { startNginx, type RunningNginx } from '../../support/nginx.ts'
import { findProgram } from '../../support/programs.ts'
import { getRequest, requestRaw } from '../../support/raw-http.ts'
import type { RawResponse } from '../../support/raw-response.ts'
import { postRequest, steadyText, type HeaderLines } from '../../support/replay-server.ts'

const SIGN_IN = actionId('lab/session/actions.server.ts', 'signIn')
/** A page that its author lets caches share. */
const FOR_ALL = '/lab/shared/1'
const CACHE = {
  '  upstream millrace {':
    '  proxy_cache_path /tmp/shared keys_zone=shared:1m use_temp_path=off;\n  upstream millrace {',
  'location / {\n      proxy_pass http://millrace;':
    'location / {\n      proxy_pass http://millrace;\n      proxy_buffering on;\n      proxy_cache shared;\n' +
    '      add_header X-Cache $upstream_cache_status always;',
}

describe.skipIf(findProgram('nginx') === undefined)('behind a cache that visitors share', () => {
  let server: BuiltServer
  let nginx: RunningNginx
  let port = 0
  const get = (target: string, headers: HeaderLines = {}): Promise<RawResponse> =>
    requestRaw(port, getRequest(target, { Connection: 'close', ...headers }))
  const fromCache = async (target: string): Promise<boolean> => (await get(target)).header('x-cache') === 'HIT'

  beforeAll(async () => {
    server = await startBuiltServer({ env: { TRUST_PROXY: '127.0.0.1' } })
    ;[port = 0] = await freePorts(1)
    nginx = await startNginx(port, [server.port, server.port, server.port], CACHE)
  })
  afterAll(async () => {
    await nginx?.[Symbol.asyncDispose]()
    await server?.stop()
  })

  test('control: what is for everybody is kept there', async () => {
    for (const target of [FOR_ALL, '/robots.txt']) {
      expect((await get(target)).status).toBe(200)
      expect([target, await fromCache(target)]).toEqual([target, true])
    }
  })

  test.for<HeaderLines>([
    { RSC: '1' },
    { 'x-nextjs-data': '1' },
    { 'X-React-Router-SPA-Mode': 'yes' },
    { 'X-Forwarded-Host': 'evil.test' },
    { 'X-Forwarded-Prefix': '/evil.test' },
    { 'X-Original-URL': '/lab/private' },
    { 'X-HTTP-Method-Override': 'HEAD' },
    { 'Content-Security-Policy': "script-src 'nonce-evil.test'" },
    { Range: 'bytes=0-0' },
    { 'If-None-Match': '*' },
    { Purpose: 'prefetch' },
    { 'X-Millrace-Build': 'evil.test' },
    { 'X-Forwarded-Proto': 'evil.test' },
    { 'X-Forwarded-Scheme': 'http' },
    { 'X-Forwarded-Port': '1; evil.test' },
    { 'X-Forwarded-Server': 'evil.test' },
    { 'X-Forwarded-For': 'evil.test' },
    { 'X-Host': 'evil.test' },
    { Forwarded: 'host=evil.test;proto=http' },
    { 'X-Rewrite-URL': '/nope' },
    { 'X-Original-Host': 'evil.test' },
    { 'X-Method-Override': 'POST' },
    { 'Accept-Language': 'evil.test' },
    { Accept: 'application/json' },
    { Accept: 'text/x-component, evil.test' },
    { 'Accept-Encoding': 'gzip;q=1, evil.test' },
    { 'Accept-Encoding': 'identity;q=0, br;q=0, *;q=0' },
    { 'User-Agent': 'Googlebot evil.test' },
    { Origin: 'https://evil.test' },
    { Referer: 'https://evil.test/' },
    { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate' },
    { 'Save-Data': 'on' },
    { 'sentry-trace': '0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-1', baggage: 'sentry-a=evil.test' },
    { Cookie: 'theme=evil.test' },
    { Range: 'bytes=-1' },
    { 'If-Range': '"evil.test"', Range: 'bytes=0-10' },
    { 'If-Match': '"evil.test"' },
    { 'If-Modified-Since': 'Fri, 01 Jan 2100 00:00:00 GMT' },
    { 'Cache-Control': 'only-if-cached, max-age=0' },
    { Pragma: 'akamai-x-get-cache-key' },
    { TE: 'trailers' },
    { Upgrade: 'websocket', Connection: 'upgrade' },
    { Expect: '100-continue' },
  ])('G2 G5 G6 G15 %j leaves nothing for the next visitor', async (headers) => {
    const page = `/lab/shared/${hash('sha256', JSON.stringify(headers)).slice(0, 8)}`
    for (const target of [page, `/_m/data${page}`, '/lab/params/x']) {
      await get(target, headers)
      const next = await get(target)
      expect([target, next.status]).toEqual([target, 200])
      expect(next.header('content-type')).toMatch(target.startsWith('/_m/') ? /route-data/ : /^text\/html/)
      expect(steadyText(next)).not.toContain('evil.test')
      expect(next.complete).toBe(true)
    }
    await requestRaw(port, getRequest(`${page}/head`, { Connection: 'close' }).replace('GET', 'HEAD'), { head: true })
    expect((await get(page)).body.length).toBeGreaterThan(1_000)
  })

  test('a body, a method in it, and queries that say the same in other words, leave nothing either', async () => {
    const page = '/lab/shared/spelled'
    const body = '_method=DELETE&evil.test'
    await requestRaw(port, getRequest(page, { Connection: 'close', 'Content-Length': String(body.length) }) + body)
    for (const query of ['?', '?_method=HEAD', '?a;b=evil.test', '?%61=evil.test', '?_data=x', '?__proto__=evil.test'])
      await get(page + query)
    const next = await get(page)
    expect([next.status, next.complete]).toEqual([200, true])
    expect(steadyText(next)).not.toContain('evil.test')
  })

  test('a 304 for the one who has it is no answer for the one who has not', async () => {
    const page = '/lab/shared/known'
    const etag = (await get(`${page}?first`)).header('etag') ?? ''
    for (const target of [page, '/lab/params/known', `/_m/data${page}`]) {
      await get(target, { 'If-None-Match': etag === '' ? '*' : `${etag}, *` })
      const next = await get(target)
      expect([target, next.status, next.body.length > 100]).toEqual([target, 200, true])
    }
  })

  test('G12 what one visitor may see nobody else gets, and cookies are not given out again', async () => {
    const signed = await requestRaw(port, postRequest(`/lab/session?_action=${SIGN_IN}.1`, 'role=admin'))
    const cookie = signed.header('set-cookie')?.split(';')[0] ?? ''
    expect(cookie).toMatch(/^__Host-/)
    for (const target of ['/lab/private', '/_m/data/lab/private', '/lab/session', '/lab/guestbook']) {
      expect([target, (await get(target, { Cookie: cookie })).status]).toEqual([target, 200])
      const next = await get(target)
      expect(next.header('x-cache')).not.toBe('HIT')
      expect(next.header('set-cookie')).toBeUndefined()
      if (target.endsWith('private')) expect(next.status).toBe(401)
    }
  })

  test('G14 what fails, refuses or leads elsewhere is asked for anew', async () => {
    const targets = [
      '/nope',
      '/_m/assets/none.js',
      '/lab/crash/loader',
      '/_m/data/lab/crash/loader',
      '/lab/redirect/temporary',
      '/lab/redirect/permanent',
      '/_m/build.json',
      '/lab/stream?delay=1',
    ]
    for (const target of targets) {
      await get(target)
      expect([target, await fromCache(target)]).toEqual([target, false])
    }
    expect((await get('/_m/data/lab/flaky/cached?fail=1')).status).toBe(503)
    expect((await get('/_m/data/lab/flaky/cached?fail=1')).status).toBe(200)
  })

  test('G3 a page and its data are kept apart', async () => {
    const both = [FOR_ALL, `/_m/data${FOR_ALL}`]
    const asked = Array.from({ length: 60 }, async (_, at) => {
      const target = both[at % 2] ?? ''
      const { text } = await get(target)
      expect([target, text.startsWith('<!DOCTYPE html>')]).toEqual([target, at % 2 === 0])
    })
    await Promise.all(asked)
  })
})

/** What `deploy/nginx.conf` does by itself; it says which answers it had already. */
const TOLD = {
  '      proxy_cache $asset_cache;':
    '      proxy_cache $asset_cache;\n      add_header X-Cache $upstream_cache_status always;',
}

describe.skipIf(findProgram('nginx') === undefined)('behind deploy/nginx.conf as it is', () => {
  let server: BuiltServer
  let nginx: RunningNginx
  let port = 0
  const get = (target: string): Promise<RawResponse> => requestRaw(port, getRequest(target, { Connection: 'close' }))

  beforeAll(async () => {
    server = await startBuiltServer({ env: { TRUST_PROXY: '127.0.0.1' } })
    ;[port = 0] = await freePorts(1)
    nginx = await startNginx(port, [server.port, server.port, server.port], TOLD)
  })
  afterAll(async () => {
    await nginx?.[Symbol.asyncDispose]()
    await server?.stop()
  })

  test('control: a file is kept', async () => {
    const file = /\/_m\/assets\/[\w.-]+\.js/.exec((await get('/')).text)?.[0] ?? ''
    expect((await get(file)).header('x-cache')).toBe('MISS')
    expect((await get(file)).header('x-cache')).toBe('HIT')
  })

  // To nginx, which decodes and shortens a path before it looks at it, each of them is a file; to the server it is a page.
  test.for([
    '/lab/params/..%2f..%2f_m%2fassets%2fx.js',
    '/lab/params/%2e%2e%2F%2e%2e%2F_m%2Fassets%2Fx.js?y',
    '/lab/files/..%2f..%2f_m/assets/x.js',
  ])('G12 %s, the page of one visitor, is not kept as a file for the next', async (target) => {
    const answers = [await get(target), await get(target)]
    for (const answer of answers) {
      expect([answer.status, answer.header('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
      expect(answer.header('x-cache')).toBeUndefined()
    }
    const [first, second] = answers.map((answer) => answer.header('content-security-policy'))
    expect(second).not.toBe(first)
  })
})
