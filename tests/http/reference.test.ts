import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import application from '../../src/app/app.ts'
import { sourceName } from '../../src/app/lab/source-name.ts'
import { routes } from '../../src/app/routes.ts'
import { createApp } from '../../src/server/app.ts'
import { readConfig } from '../../src/server/config/config.ts'
import { createRouteTable } from '../../src/shared/route-table.ts'
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
    const found = await get('/docs/search?q=caches')
    expect(found.text).toMatch(/<input id="handbook-search"[^>]* value="caches"/)
    expect(found.text).not.toContain('aria-current="page"')
    const chapter = await get('/docs/routes')
    expect(chapter.text).toMatch(/<input id="handbook-search"[^>]* value=""/)
    expect(chapter.text).toContain('aria-current="page"')
  })

  test('the handbook is there as Markdown too, with a list for programs', async () => {
    const chapter = await get('/docs/rules.md')
    expect(chapter.header('content-type')).toBe('text/markdown; charset=utf-8')
    expect(chapter.text).toMatch(/^# Redirects, rewrites and headers\n\n/)
    expect(chapter.text).toContain('](/docs/security.md#headers)')
    expect((await get('/docs/index.md')).text).toMatch(/^# What Millrace is\n/)
    for (const path of ['/docs/none.md', '/docs/markdown/..%2fREADME', '/docs/api.md'])
      expect((await get(path)).status).toBe(404)

    const subject = (await get('/docs/reference/server/sessions-and-secrets.md')).text
    expect(subject).toMatch(/^# millrace\/server: sessions and secrets\n/)
    expect(subject).toMatch(/^## defineSession\n\nFunction, .* Explained in \[[^\]]+\]\(\/docs\/sessions\.md#/m)

    const list = (await get('/llms.txt')).text
    const linked = [...list.matchAll(/\]\(([^)]+)\): \S/g)].map(([, url = '']) => url)
    expect(linked.length).toBeGreaterThan(20)
    for (const url of linked) expect((await get(url)).status).toBe(200)
    expect((await get('/llms-full.txt')).text).toContain('\n# Redirects, rewrites and headers\n')
  })

  test('each experiment of the lab leads to its sources, and no other path to any', async () => {
    const board = (await get('/lab')).text
    const linked = new Set(Array.from(board.matchAll(/href="(\/lab\/source\/[^"]+)"/g), ([, path = '']) => path))
    const patterns = createRouteTable(routes).routes.map(({ pattern }) => pattern)
    const shown = patterns.filter((pattern) => /^\/lab\/(?!source\/)/.test(pattern))
    const pathOf = (pattern: string): string => `/lab/source/${sourceName(pattern)}`
    expect(new Set(shown.map(pathOf)).size).toBe(shown.length)
    // What is reported has no card of its own; its page has the link that all experiments have.
    const unlinked = shown.map(pathOf).filter((path) => !linked.has(path) && !path.startsWith('/lab/source/reports/'))
    expect(unlinked).toEqual([])
    for (const pattern of shown) {
      const { status, text } = await get(pathOf(pattern))
      const isThere = text.includes(pattern + '&#x27;</span>: {') && text.includes('>routes.ts</code>')
      expect([pattern, status, isThere]).toEqual([pattern, 200, true])
    }

    for (const path of ['params/7', 'early?delay=5', 'cache/1', 'filters']) {
      const href = /href="(\/lab\/source\/[^"]+)"/.exec((await get(`/lab/${path}`)).text)?.[1] ?? ''
      expect([path, linked.has(href)]).toEqual([path, true])
    }
    const mill = await get('/lab/source/mills/id')
    const files = Array.from(mill.text.matchAll(/aria-label="([\w.-]+\.tsx?)"/g), ([, name]) => name)
    expect(files).toEqual(['routes.ts', 'loader.server.ts', 'page.tsx', 'power-form.tsx', 'actions.server.ts'])

    const near = [
      '',
      '/none',
      '/bench',
      '/kept',
      '/kept/1',
      '/kept/%5Bkey%5D',
      '/kept/key/x',
      '/kept%2Fkey',
      '/source/path',
    ]
    const odd = [
      '/__proto__',
      '/constructor',
      '/toString',
      '/__proto__/constructor',
      '/..%2f..%2froutes',
      '/%2e%2e/routes',
    ]
    for (const path of [...near, ...odd]) expect([path, (await get(`/lab/source${path}`)).status]).toEqual([path, 404])
  })

  test('no chapter takes more than 35 kB on the wire', async () => {
    const sections = JSON.parse((await get('/docs/search.json')).text) as readonly { chapter: string; text: string }[]
    const sizes = new Map<string, number>()
    for (const { chapter, text } of sections) sizes.set(chapter, (sizes.get(chapter) ?? 0) + text.length)
    const largest = [...sizes].toSorted(([, one], [, other]) => other - one).slice(0, 4)
    const answers = largest.map(async ([chapter]) => {
      return [chapter, (await get(`/docs/${chapter}`, { 'Accept-Encoding': 'br' })).body.length] as const
    })
    expect((await Promise.all(answers)).filter(([, bytes]) => bytes > 35_000)).toEqual([])
  })

  test('the sections of the search dialog are those of the chapters, and any cache may share them', async () => {
    const answer = await get('/docs/search.json')
    const sections = JSON.parse(answer.text) as { readonly chapter: string; readonly id: string }[]
    expect(sections).toContainEqual(expect.objectContaining({ chapter: 'rules', id: 'headers', heading: 'Headers' }))
    expect(answer.header('cache-control')).toBe('public, max-age=300')
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
      ['/lab/mills/none', 404, [testId('fallback', '')]],
      ['/lab/flaky/never', 200, [testId('attempts', '1')]],
      ['/lab/flaky/at-first?fail=1', 503, [testId('error', ''), 'noindex']],
      ['/lab/inspector', 200, ['needs JavaScript']],
      ['/lab/bench/hello', 200, ['<main><h1>Hello</h1></main>']],
      ['/nope', 404, [testId('fallback', ''), 'href="/docs/search?q=nope"']],
      ['/doc/rutes', 404, ['href="/docs/routes"']],
      ['/docs/lodaers', 404, ['href="/docs/loaders"']],
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

    test('the home page streams its last part to browsers, and has all that it says in its first', async () => {
      const browser = await get('/', { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0' })
      const parts = [
        '--shell-sent:"',
        'npx --package',
        'Misses',
        'MillPage',
        'id="comparison"',
        'data-testid="rest">waits<',
      ]
      const arrivals = [...parts, / data-testid="rest">[\d,]+ ms</.exec(browser.text)?.[0] ?? 'no rest'].map(
        (text) => browser.chunks.find(({ bytes }) => bytes.includes(text))?.arrival ?? Number.NaN,
      )
      expect(Math.max(...arrivals.slice(0, -1))).toBeLessThan(arrivals.at(-1) ?? 0)
      const [, image = ''] = /property="og:image" content="([^"]+)"/.exec(browser.text) ?? []
      if (image.startsWith('/_m/')) expect((await get(image)).header('content-type')).toBe('image/png')
    })

    test('the home page waits for no crawler: it comes as a whole, the same each time', async () => {
      const crawler = { 'User-Agent': 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)' }
      const [first, second] = [await get('/', crawler), await get('/', crawler)]
      expect(first.text).toContain('This page was sent as a whole')
      expect(first.text).not.toContain('--shell-sent')
      expect([first.status, first.header('etag')]).toEqual([200, second.header('etag')])
      expect(first.header('etag')).toBeDefined()
    })

    test('the shell of a stream comes before its hole', async () => {
      const answer = await get('/lab/stream?delay=150')
      const arrivalOf = (text: string): number =>
        answer.chunks.find(({ bytes }) => bytes.includes(text))?.arrival ?? Number.NaN
      expect(arrivalOf('data-testid="shell"')).toBeLessThan(arrivalOf('data-testid="deferred"'))
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
