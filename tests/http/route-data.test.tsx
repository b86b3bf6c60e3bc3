import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { UnavailableError } from '../../src/server/index.ts'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { forbidden, notFound, redirect, unauthorized } from '../../src/shared/control-flow.ts'
import { withServer } from '../support/listening.ts'
import { requestRaw } from '../support/raw-http.ts'
import { getData, wanting } from '../support/route-data.ts'
import { fallbacks, moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const hello = page(() => <h1>Hello</h1>)
const layout = moduleOf({ default: (({ children }: { children: unknown }) => children) as never })
const loads = (loader: (args: LoaderArgs) => unknown, more: object = {}) => moduleOf({ loader, ...more })
const assets = { manifest: { buildId: 'b1', entryImports: [], entryStyles: [], segments: {} }, folder: '/nowhere' }
const head = (more: object) => ({ v: 1, build: 'b1', ...more })

test('the data of a URL that no page answers has that of the layout of the whole site', async () => {
  const { app } = tinyApp({
    assets,
    routes: {
      '/': {
        ...fallbacks('root'),
        layout,
        layoutLoader: loads(({ search }) => (search['member'] === 'no' ? unauthorized() : { site: 1 })),
      },
    },
  })
  const { status, records } = await getData(app, '/_m/data/nope')
  expect(status).toBe(404)
  expect(records).toEqual([
    head({ route: null, params: {}, scope: 'path' }),
    { segment: '/#layout', data: { site: 1 }, uses: ['member'] },
    { outcome: { kind: 'notFound', at: 0 } },
    { done: true },
  ])
  const refused = await getData(app, '/_m/data/nope?member=no')
  expect(refused.status).toBe(401)
  expect(JSON.stringify(refused.records)).not.toContain('notFound')
})

describe('the data of a page', () => {
  const { app, logs } = tinyApp({
    assets,
    routes: {
      '/': { ...fallbacks('root'), layout, layoutLoader: loads(() => ({ site: 1 })), page: hello },
      '/p/[id]': {
        page: hello,
        loader: loads(({ params, search }) => ({ id: params['id'], q: search['q'] ?? null })),
      },
      '/quiet': { page: hello, loader: loads(() => undefined) },
    },
  })

  test('is a head, one record a segment, and the end', async () => {
    const { status, header, records } = await getData(app, '/_m/data/p/7?q=x')
    expect(status).toBe(200)
    expect(records).toEqual([
      head({ route: '/p/[id]', params: { id: '7' }, scope: 'path' }),
      { segment: '/#layout', data: { site: 1 } },
      { segment: '/p/[id]#page', data: { id: '7', q: 'x' }, uses: ['q'] },
      { done: true },
    ])
    expect(header('content-type')).toBe('application/vnd.millrace.route-data')
    expect(header('cache-control')).toBe('private, no-store')
    expect(header('x-millrace-build')).toBe('b1')
    expect(header('x-content-type-options')).toBe('nosniff')
    expect(header('vary')).toBe('Accept-Encoding, X-Millrace-Build')
    expect(header('server-timing')).toMatch(
      /^loader;desc="\/#layout";dur=\d.*loader;desc="\/p\/\[id\]#page";dur=.*head;/,
    )
  })

  test.for(['/_m/data', '/_m/data/', '/_m/data?x=1', '/_m/data/?x=1'])('of / is at %s', async (path) => {
    const { status, records } = await getData(app, path)
    expect(status).toBe(200)
    expect(records[0]).toMatchObject({ route: '/' })
  })

  test('is only of the wanted segments; _m= wants none, and a repeated one is one', async () => {
    const segments = async (query: string) =>
      (await getData(app, `/_m/data/p/7${query}`)).records.flatMap(({ segment }) => segment ?? [])
    expect(await segments(`?${wanting('/p/[id]#page')}`)).toEqual(['/p/[id]#page'])
    expect(await segments(`?${wanting('/#layout')}`)).toEqual(['/#layout'])
    expect(await segments(`?q=1&${wanting('/#layout', '/#layout')}`)).toEqual(['/#layout'])
    expect(await segments('?_m=')).toEqual([])
    expect(await segments('?_m')).toEqual([])
  })

  test('has the query of the page, without ours and otherwise byte for byte', async () => {
    const urls: string[] = []
    const { app: echo } = tinyApp({
      routes: { '/e': { page: hello, loader: loads(({ request }) => void urls.push(request.url)) } },
    })
    await getData(echo, `/_m/data/e?a=%7e+&&b=/_m/&_mx=1&_m=&${wanting('/e#page')}&c`)
    await getData(echo, `/_m/data/e?${wanting('/e#page')}`)
    expect(urls).toEqual(['http://localhost/e?a=%7e+&&b=/_m/&_mx=1&c', 'http://localhost/e'])
  })

  test('names a segment whose loader returned nothing, and no segment without a loader', async () => {
    const { records } = await getData(app, `/_m/data/quiet?${wanting('/quiet#page')}`)
    expect(records.slice(1)).toEqual([{ segment: '/quiet#page' }, { done: true }])
    const root = await getData(app, `/_m/data/?${wanting('/#page')}`)
    expect(root.records.slice(1)).toEqual([{ done: true }])
  })

  test('is logged under the pattern of its page', async () => {
    await getData(app, '/_m/data/p/secret')
    expect(logs.at(-1)).toMatchObject({ route: '/_m/data/p/[id]', status: 200 })
  })

  test('is answered to HEAD with its headers, loaders run, and no body', async () => {
    const ran: string[] = []
    const { app: counted } = tinyApp({ routes: { '/': { page: hello, loader: loads(() => void ran.push('page')) } } })
    const answer = await withServer(counted, (port) =>
      requestRaw(port, 'HEAD /_m/data/ HTTP/1.1\r\nHost: localhost\r\n\r\n', { head: true }),
    )
    expect([answer.status, answer.header('content-type'), ran]).toEqual([
      200,
      'application/vnd.millrace.route-data',
      ['page'],
    ])
  })

  test.for([
    ['OPTIONS', 204],
    ['POST', 405],
    ['DELETE', 405],
  ] as const)('is not had by %s', async ([method, status]) => {
    const answer = await withServer(app, (port) =>
      requestRaw(port, `${method} /_m/data/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n`),
    )
    expect([answer.status, answer.header('allow'), answer.header('x-millrace-build')]).toEqual([
      status,
      'GET, HEAD, OPTIONS',
      'b1',
    ])
  })
})

describe('segments that cannot be', () => {
  const { app } = tinyApp({
    assets,
    routes: {
      '/': { page: hello, loader: loads(() => 'root') },
      '/a': { layout, layoutLoader: loads(() => 'a'), page: hello, loader: loads(() => 'page') },
      '/bare/[x]': { error: fallbacks('x').error },
    },
  })

  test.for([
    ['unknown', wanting('/b#page')],
    ['of no layout', wanting('/#layout')],
    ['of no page', wanting('/bare/[x]#page')],
    ['a key alone', wanting('/a')],
    ['of a prototype', wanting('__proto__')],
    ['not decodable', '_m=%ff'],
    ['too many', Array.from({ length: 33 }, () => wanting('/#page')).join('&')],
  ] as const)('are refused with 400: %s', async ([, query]) => {
    const { status, records, header } = await getData(app, `/_m/data/a?${query}`)
    expect([status, records]).toEqual([400, [head({ document: true }), { done: true }]])
    expect([header('cache-control'), header('x-millrace-build')]).toEqual(['no-store', 'b1'])
  })

  test('as many as are allowed are not refused', async () => {
    const query = Array.from({ length: 32 }, () => wanting('/a#page')).join('&')
    expect((await getData(app, `/_m/data/a?${query}`)).status).toBe(200)
  })

  test('of another route than the URL leads to give all of the true one', async () => {
    const { records } = await getData(app, `/_m/data/a?${wanting('/#page')}`)
    expect(records.map(({ segment }) => segment)).toEqual([undefined, '/a#layout', '/a#page', undefined])
  })
})

describe('a verdict', () => {
  const { app, logs } = tinyApp({
    assets,
    routes: {
      '/': { ...fallbacks('root'), page: hello },
      '/not-found': { page: hello, loader: loads(() => notFound()) },
      '/forbidden': { page: hello, loader: loads(() => forbidden()), forbidden: fallbacks('own').forbidden },
      '/unauthorized': { page: hello, loader: loads(() => unauthorized()) },
      '/moved': { page: hello, loader: loads(() => redirect('/x?y=1#z', 303)) },
      '/far': { page: hello, loader: loads(() => redirect('https://far.test/a', 307, { external: true })) },
      '/evil': { page: hello, loader: loads(() => redirect('//evil.test')) },
      '/broken': { page: hello, loader: loads(() => Promise.reject(new Error('secret-canary'))) },
      '/busy': {
        page: hello,
        loader: loads(() => {
          throw new UnavailableError('secret-canary', { retryAfter: 1.5 })
        }),
      },
      '/checked': { page: hello, loader: loads(() => 1, { search: z.object({ n: z.coerce.number() }) }) },
      '/lost': { page: hello, loader: loads(() => ({ run: () => 1 })) },
    },
  })

  test.for([
    ['/not-found', 404, { kind: 'notFound', at: 0 }],
    ['/forbidden', 403, { kind: 'forbidden', at: 1 }],
    ['/unauthorized', 401, { kind: 'unauthorized', at: 0 }],
    ['/broken', 500, { kind: 'error', at: 0, digest: expect.stringMatching(/^[0-9a-f]{12}$/) as string }],
    ['/evil', 500, { kind: 'error', at: 0, digest: expect.stringMatching(/^[0-9a-f]{12}$/) as string }],
    ['/lost', 500, { kind: 'error', at: 0, digest: expect.stringMatching(/^[0-9a-f]{12}$/) as string }],
  ] as const)('of %s has the status of the document and names the same fallback', async ([path, status, outcome]) => {
    const answer = await getData(app, `/_m/data${path}`)
    expect(answer.status).toBe(status)
    expect(answer.records).toEqual([head({ route: path, params: {}, scope: 'path' }), { outcome }, { done: true }])
    expect(answer.header('cache-control')).toBe('no-store')
    expect(answer.text).not.toContain('secret-canary')
    expect(answer.text).not.toContain('evil.test')
    expect((await getData(app, path)).status).toBe(status)
    const { digest } = (answer.records[1] as { outcome: { digest?: string } }).outcome
    if (digest !== undefined) expect(logs.map((line) => line['digest'])).toContain(digest)
  })

  test.for([
    ['/moved', { to: '/x?y=1#z' }],
    ['/far', { to: 'https://far.test/a', external: true }],
  ] as const)('of %s travels as a record that fetch does not follow', async ([path, target]) => {
    const { status, header, records } = await getData(app, `/_m/data${path}`)
    expect([status, records]).toEqual([200, [head({ redirect: target }), { done: true }]])
    expect([header('location'), header('cache-control')]).toEqual([undefined, 'private, no-store'])
  })

  test('of a loader that is unavailable is 503 with Retry-After, for document and data', async () => {
    const data = await getData(app, '/_m/data/busy')
    expect([data.status, data.header('retry-after')]).toEqual([503, '2'])
    expect(data.records[1]).toMatchObject({ outcome: { kind: 'error', at: 0 } })
    const document = await getData(app, '/busy')
    expect([document.status, document.header('retry-after'), document.header('cache-control')]).toEqual([
      503,
      '2',
      'no-store',
    ])
    expect(document.text).toContain('root error server')
    expect(logs.filter(({ level }) => level === 50).at(-1)).toMatchObject({ err: { message: 'secret-canary' } })
    expect(data.text + document.text).not.toContain('secret-canary')
  })

  test('of a search schema is 400 and the document, which says why', async () => {
    const { status, records } = await getData(app, '/_m/data/checked?n=x')
    expect([status, records]).toEqual([400, [head({ document: true }), { done: true }]])
    expect((await getData(app, '/_m/data/checked?n=4')).records[1]).toEqual({
      segment: '/checked#page',
      data: 1,
      search: { n: 4 },
      uses: ['n'],
    })
  })

  test.for([
    ['/_m/data/nowhere', '/nowhere'],
    ['/_m/data/_m/assets/x', '/nowhere'],
    ['/_m/data/_m/data/moved', '/nowhere'],
    ['/_m/data/healthz', '/nowhere'],
    ['/_m/data/readyz', '/nowhere'],
    ['/_m/data/../moved', '/nowhere'],
    ['/_m/data/%2e%2e/moved', '/nowhere'],
  ] as const)('of %s, which no page answers, is the not-found page of the root', async ([path, document]) => {
    const { status, records } = await getData(app, path)
    expect(status).toBe(404)
    expect(records).toEqual([
      head({ route: null, params: {}, scope: 'path' }),
      { outcome: { kind: 'notFound', at: 0 } },
      { done: true },
    ])
    expect((await getData(app, document)).text).toContain('root not found')
  })

  test.for(['/healthz', '/_m/x', '/_m/data/a', '/a/../b', '/a/%2e', '/..'])(
    'of %s is not found even where one page answers everything',
    async (path) => {
      const { app: catchAll } = tinyApp({ routes: { '/': fallbacks('root'), '/[...all]': { page: hello } } })
      expect((await getData(catchAll, `/_m/data${path}`)).records[0]).toMatchObject({ route: null })
      expect((await getData(catchAll, '/_m/data/a')).records[0]).toMatchObject({ route: '/[...all]' })
    },
  )

  test('that has no fallback is left to the document', async () => {
    const { app: bare } = tinyApp({
      assets,
      routes: { '/a': { page: hello, loader: loads(() => Promise.reject(new Error('x'))) } },
    })
    for (const [path, status] of [
      ['/nowhere', 404],
      ['/a', 500],
    ] as const) {
      const { status: given, records } = await getData(bare, `/_m/data${path}`)
      expect([given, records]).toEqual([status, [head({ document: true }), { done: true }]])
    }
  })
})
