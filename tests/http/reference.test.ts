import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import application from '../../src/app/app.ts'
import { createApp } from '../../src/server/app.ts'
import { readConfig } from '../../src/server/config/config.ts'
import vectors from '../vectors/routing.json' with { type: 'json' }
import { startBuiltServer, type BuiltServer } from '../support/built-server.ts'
import { getRequest, requestRaw } from '../support/raw-http.ts'
import type { RawResponse } from '../support/raw-response.ts'

/** The reference application, once as `createApp()` in this process and once as the built server over a socket. */
const hosts = [
  { name: 'createApp()', start: startHere },
  { name: 'the built server', start: startBuilt },
] as const

describe.for(hosts)('the reference application by $name', ({ start }) => {
  let port: number
  let stop: () => Promise<void>
  const get = (path: string, headers?: Record<string, string>): Promise<RawResponse> =>
    requestRaw(port, getRequest(path, headers))

  beforeAll(async () => {
    ;({ port, stop } = await start())
  })
  afterAll(() => stop())

  test('a search in the handbook shows what was searched for, and no chapter as the one on screen', async () => {
    const found = await get('/docs?q=caches')
    expect(found.text).toMatch(/<input id="handbook-search"[^>]* value="caches"/)
    expect(found.text).not.toContain('aria-current="page"')
    const chapter = await get('/docs/routes')
    expect(chapter.text).toMatch(/<input id="handbook-search"[^>]* value=""/)
    expect(chapter.text).toContain('aria-current="page"')
  })

  describe('URLs', () => {
    test.for(vectors.urls)('$id', async ({ request, status, location }) => {
      const { method, target } = request
      const answer = await requestRaw(port, `${method} ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`, {
        head: method === 'HEAD',
      })
      expect(answer.status).toBe(status)
      expect(answer.header('location')).toBe(location)
      if (status >= 400) expect(answer.header('cache-control')).toBe('no-store')
    })
  })

  describe('pages', () => {
    const shown: readonly (readonly [path: string, status: number, texts: readonly (string | RegExp)[]])[] = [
      ['/', 200, ['Millrace']],
      ['/docs', 200, ['<h1']],
      ['/lab', 200, ['href="/lab/stream']],
      ['/lab/params/a%20b', 200, [testId('params', '{"id":"a b"}')]],
      ['/lab/params/new', 200, [testId('params', '"static"')]],
      ['/lab/files/a/b%2Fc', 200, [testId('params', '{"path":["a","b/c"]}')]],
      ['/lab/filters', 200, [testId('params', '{}')]],
      ['/lab/alias/9', 200, [testId('params', '{"id":"9"}')]],
      ['/lab/not-found', 404, [testId('fallback', ''), 'noindex']],
      ['/lab/forbidden', 403, [testId('fallback', ''), 'noindex']],
      ['/lab/unauthorized', 401, [testId('fallback', ''), 'noindex']],
      [
        '/lab/crash/loader',
        500,
        [testId('error', 'Application error: a server-side exception has occurred'), 'Digest: '],
      ],
      [
        '/lab/crash/render',
        500,
        [testId('error', 'Application error: a server-side exception has occurred'), 'Digest: '],
      ],
      ['/lab/landed', 200, []],
      ['/lab/flaky/never', 200, [testId('attempts', '1')]],
      ['/lab/flaky/at-first?fail=1', 503, [testId('error', ''), 'noindex']],
      ['/lab/inspector', 200, ['needs JavaScript']],
      ['/lab/bench/hello', 200, ['<main><h1>Hello</h1></main>']],
      ['/nope', 404, [testId('fallback', '')]],
    ]
    test.for(shown)('%s answers %d', async ([path, status, texts]) => {
      const answer = await get(path)
      expect(answer.status).toBe(status)
      const html = answer.body.toString().replaceAll('&quot;', '"')
      for (const text of texts) expect(html).toMatch(text)
      expect(html).not.toContain('on purpose')
    })

    test('a flaky key is unavailable for as many requests as asked, documents and data alike, then says how many', async () => {
      const page = '/lab/flaky/both?fail=2'
      const document = await get(page)
      expect(document.status).toBe(503)
      expect(document.header('cache-control')).toBe('no-store')
      expect((await get(`/_m/data${page}`)).status).toBe(503)
      const data = await get(`/_m/data${page}`)
      expect(data.status).toBe(200)
      expect(data.body.toString()).toMatch(/"attempts":3\b/)
      expect(data.body.toString()).toMatch(/"lifetime":0\b/)
      expect((await get(page)).body.toString()).toMatch(testId('attempts', '4'))
    })

    test('a flaky key fails ten times at most', async () => {
      const statuses: number[] = []
      for (let turn = 0; turn < 11; turn += 1) statuses.push((await get('/_m/data/lab/flaky/most?fail=99')).status)
      expect(statuses).toEqual([...Array.from({ length: 10 }, () => 503), 200])
    })

    test('spiral has its tiles, table and links their rows, at most as many as allowed', async () => {
      const count = async (path: string, mark: RegExp): Promise<number> =>
        [...(await get(path)).body.toString().matchAll(mark)].length
      expect(await count('/lab/bench/spiral', /class="tile"/g)).toBeGreaterThan(2_200)
      expect(await count('/lab/bench/table?n=12', /<tr>/g)).toBe(12)
      expect(await count('/lab/bench/links?n=12', /<a href="/g)).toBe(12)
      expect((await get('/lab/bench/table?n=1000000')).body.length).toBeLessThan(4_000_000)
    })

    test('redirects are real, with their status', async () => {
      expect(await get('/lab/redirect/temporary').then((a) => [a.status, a.header('location')])).toEqual([
        307,
        '/lab/landed',
      ])
      expect(await get('/lab/redirect/permanent').then((a) => [a.status, a.header('location')])).toEqual([
        308,
        '/lab/landed',
      ])
      const late = await get('/lab/redirect/late')
      expect(late.status).toBe(200)
      expect(late.body.toString()).toContain('http-equiv="refresh" content="0;url=/lab/landed"')
    })

    test('the shell of a stream comes before its hole', async () => {
      const answer = await get('/lab/stream?delay=150')
      const arrivalOf = (text: string): number =>
        answer.chunks.find(({ bytes }) => bytes.includes(text))?.arrival ?? Number.NaN
      expect(arrivalOf('data-testid="shell"')).toBeLessThan(arrivalOf('data-testid="deferred"'))
    })
  })

  describe('the edge', () => {
    test.for([
      'a b',
      'localhost:3000/abc?',
      'x#',
      'x@evil.test',
      'evil.test,good.test',
      'x:99999',
      '[::1',
      '',
      'a..b',
      '-a:',
      'a:1:2',
    ])('refuses the Host %j', async (host) => {
      expect((await requestRaw(port, `GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`)).status).toBe(400)
    })

    test.for(['localhost', 'LOCALHOST:3000', '127.0.0.1:80', '[::1]:3000', 'a-b.example.test', 'localhost.'])(
      'takes the Host %j',
      async (host) => {
        expect((await requestRaw(port, `GET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\n`)).status).toBe(200)
      },
    )

    test('refuses two Hosts, another HTTP version, and a target for another host', async () => {
      const raw = (bytes: string): Promise<number> => requestRaw(port, bytes).then(({ status }) => status)
      expect(await raw('GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n')).toBe(400)
      expect(await raw('GET http://evil.test/ HTTP/1.1\r\nHost: localhost\r\n\r\n')).toBe(400)
      expect(await raw('GET http:///h HTTP/1.1\r\nHost: localhost\r\n\r\n')).toBe(400)
      expect(await raw('GET http://localhost/lab HTTP/1.1\r\nHost: localhost\r\n\r\n')).toBe(200)
      expect([400, 505]).toContain(await raw('GET / HTTP/2.0\r\nHost: localhost\r\n\r\n'))
      expect(await raw('GET /lab HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\nHost: a\r\n\r\n')).toBe(
        400,
      )
    })

    test('answers the same whatever a stranger forwards', async () => {
      const plain = await get('/lab')
      for (const header of [
        'X-Forwarded-Host',
        'X-Forwarded-Proto',
        'Forwarded',
        'X-Original-URL',
        'X-Rewrite-URL',
        'X-HTTP-Method-Override',
        'X-Host',
        'x-middleware-subrequest',
        'RSC',
        'x-nextjs-data',
        'Location',
      ]) {
        const answer = await get('/lab', { [header]: 'evil.test' })
        expect(answer.status).toBe(200)
        expect(answer.header('etag')).toBe(plain.header('etag'))
        expect(JSON.stringify(answer.headers) + answer.body.toString()).not.toContain('evil.test')
      }
    })

    test('survives odd headers', async () => {
      for (const [name, value] of [
        ['__proto__', 'x'],
        ['Cookie', 'a=%E0%A4%A; =;=;'],
        ['baggage', 'sentry-trace_id=%4Z'],
        ['If-None-Match', '"'.repeat(5_000)],
        ['Range', 'bytes=0-,'.repeat(500)],
        ['Accept-Encoding', 'a;q=0.1,'.repeat(100)],
        ['Accept-Language', 'a;'.repeat(1_000)],
      ] as const) {
        expect((await get('/lab/params/x', { [name]: value })).status).toBe(200)
      }
    })

    test.for([
      '/_m/assets/..%2f..%2fpackage.json',
      '/_m/assets/%252e%252e%252fpackage.json',
      '/_m/assets/..%5cpackage.json',
      '/_m/assets/./../server/main.js',
      '/_m/assets/%2e%2e/manifest.json',
      '/src/server/main.ts',
      '/@fs/etc/passwd?raw??',
      '/server/server.js',
      '/manifest.json',
      '/package.json',
      '/.git/HEAD',
      '/.env',
      '/node_modules/react/package.json',
      '/static/./../server.js',
      '/static/%2e%2e/x',
      '/_m/nothing',
      '/metrics',
    ])('%s is no file of ours', async (path) => {
      const answer = await get(path)
      expect(answer.status).toBe(404)
      expect(answer.header('cache-control')).toBe('no-store')
    })

    test('the same connection answers the next request after a refused one', async () => {
      const two = 'GET /% HTTP/1.1\r\nHost: a\r\n\r\nGET /healthz HTTP/1.1\r\nHost: a\r\n\r\n'
      const { connectRaw } = await import('../support/raw-http.ts')
      using connection = await connectRaw(port)
      await connection.send(two)
      expect((await connection.response()).status).toBe(400)
      expect((await connection.response()).status).toBe(200)
    })

    test('a request split at every byte is answered as any other', async () => {
      expect((await requestRaw(port, getRequest('/lab/params/7?x=1'), { every: 1 })).status).toBe(200)
    })
  })

  test('names its build, and every document carries the usual security headers', async () => {
    const build = JSON.parse((await get('/_m/build.json')).body.toString()) as { buildId: string }
    expect(build.buildId).toMatch(/\w+/)
    const answer = await get('/lab')
    expect(answer.header('content-security-policy')).toMatch(/script-src 'nonce-[\w+/=]{22,}' 'strict-dynamic'/)
    expect(answer.header('x-content-type-options')).toBe('nosniff')
    expect(answer.header('referrer-policy')).toBeDefined()
    expect(answer.body.toString()).toContain(`"build":"${build.buildId}"`)
  })
})

function testId(name: string, text: string): RegExp {
  return new RegExp(`data-testid="${name}"[^>]*>${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`)
}

async function startHere(): Promise<{ port: number; stop: () => Promise<void> }> {
  const app = createApp({ app: application, config: readConfig({}), log: pino({ level: 'silent' }) })
  const server: Server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

async function startBuilt(): Promise<{ port: number; stop: () => Promise<void> }> {
  const server: BuiltServer = await startBuiltServer()
  return { port: server.port, stop: async () => void (await server.stop()) }
}
