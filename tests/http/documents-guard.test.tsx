import { describe, expect, test } from 'vitest'
import type { RequestHandler } from 'express'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { portOf } from '../support/listening.ts'
import { getRequest, requestRaw } from '../support/raw-http.ts'
import { fallbacks, moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const hello = page(() => <h1>Hello</h1>)

describe('a path with dot segments', () => {
  const { app } = tinyApp({
    routes: {
      '/': fallbacks('root'),
      '/files/[...path]': { page: hello },
      '/feed/[...path]': { handler: moduleOf({ GET: () => new Response('feed') }) },
    },
    rules: { redirects: [{ source: '/old/:path*', destination: '/files/x', permanent: true }] },
  })

  test.for([
    '/files/.',
    '/files/a/../b',
    '/files/%2e%2e/b',
    '/files/a/%2E.',
    '/feed/../files',
    '/feed/a/.',
    '/old/../a',
    '/old/%2e',
  ])('%s is none of a page, a resource or a rule: others would read it as another path', async (path) => {
    const port = await portOf(app)
    const answer = await requestRaw(port, getRequest(path))
    expect(answer.status).toBe(404)
    expect(answer.text).toContain('root not found')
  })

  test.for(['/files/a', '/feed/a', '/old/a'])('is not %s', async (path) => {
    const port = await portOf(app)
    expect((await requestRaw(port, getRequest(path))).status).toBeLessThan(400)
  })
})

describe('a request that is refused for its address', () => {
  const { app } = tinyApp({ routes: { '/': fallbacks('root') } })
  const asBrowser = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

  test.for([
    ['undecodable percent sequence', 400, '/%E0%A4%A'],
    ['URL too long', 414, `/${'a'.repeat(9_000)}`],
  ] as const)('(%s) is a page with a way on to a browser, and text to others', async ([reason, status, path]) => {
    const port = await portOf(app)
    const page = await requestRaw(port, getRequest(path, asBrowser))
    expect(page.status).toBe(status)
    expect(page.header('content-type')).toBe('text/html; charset=utf-8')
    expect(page.text).toContain(`This request was refused: ${reason}.`)
    expect(page.text).toContain('<a href="/">Home</a>')
    const text = await requestRaw(port, getRequest(path))
    expect(text.status).toBe(status)
    expect(text.header('content-type')).toBe('text/plain; charset=utf-8')
  })

  test('is text where data is asked for, whatever is accepted', async () => {
    const port = await portOf(app)
    const answer = await requestRaw(port, getRequest('/_m/data/%E0%A4%A', asBrowser))
    expect(answer.status).toBe(400)
    expect(answer.header('content-type')).toBe('text/plain; charset=utf-8')
  })
})

describe('a request', () => {
  test.for([
    ['/a%20b?x=1', '/a%20b?x=1'],
    ['http://shop.test:8080/a?x=1', '/a?x=1'],
    ['http://shop.test:8080', '/'],
    ['/a?', '/a'],
  ] as const)('for %s is %s to middleware, and has the right host to loaders', async ([target, path]) => {
    const seen: (string | undefined)[] = []
    const middleware: RequestHandler = (req, _res, next) => {
      seen.push(req.url)
      next()
    }
    const loader = moduleOf({ loader: ({ request }: LoaderArgs) => void seen.push(request.url) })
    const { app } = tinyApp({ routes: { '/[[...path]]': { page: hello, loader } }, middleware: [middleware] })
    const port = await portOf(app)
    expect((await requestRaw(port, getRequest(target, {}, 'shop.test:8080'))).status).toBe(200)
    expect(seen).toEqual([path, `http://shop.test:8080${path}`])
  })

  test('is known by the id that our proxy gave it, if that is safe to log', async () => {
    const { app, logs } = tinyApp({ environment: { TRUST_PROXY: '127.0.0.1' }, routes: { '/': { page: hello } } })
    const port = await portOf(app)
    for (const id of ['proxy.id:1', 'a"b', 'x'.repeat(65)]) {
      await requestRaw(port, getRequest('/', { 'X-Request-Id': id }))
    }
    const ids = logs.map(({ requestId }) => requestId)
    expect(ids).toEqual([
      'proxy.id:1',
      expect.stringMatching(/^[0-9a-f]{32}$/),
      expect.stringMatching(/^[0-9a-f]{32}$/),
    ])
  })

  test('is not known by an id that a stranger gives it', async () => {
    const { app, logs } = tinyApp({ routes: { '/': { page: hello } } })
    const port = await portOf(app)
    await requestRaw(port, getRequest('/', { 'X-Request-Id': 'stranger' }))
    expect(logs).toMatchObject([{ requestId: expect.stringMatching(/^[0-9a-f]{32}$/) as string }])
  })
})

describe('a question about the whole server', () => {
  const { app } = tinyApp({ routes: { '/': { page: hello } } })

  test('OPTIONS * gets 204 with Allow', async () => {
    const port = await portOf(app)
    const answer = await requestRaw(port, 'OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
    expect([answer.status, answer.header('allow'), answer.text]).toEqual([204, 'GET, HEAD, POST, OPTIONS', ''])
  })

  test.for(['GET', 'HEAD', 'POST'])('there is no %s *', async (method) => {
    const port = await portOf(app)
    const answer = await requestRaw(port, `${method} * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
    expect(answer.status).toBe(400)
  })
})
