import type { RequestHandler } from 'express'
import { describe, expect, test } from 'vitest'
import type { LoaderArgs, LoaderContext } from '../../src/server/api/loader-types.ts'
import { getData, wanting } from '../support/route-data.ts'
import { fallbacks, moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const hello = page(() => <h1>Hello</h1>)
const loads = (loader: (args: LoaderArgs) => unknown, more: object = {}) => moduleOf({ loader, ...more })
const assets = { manifest: { buildId: 'b1', entryImports: [], entryStyles: [], segments: {} }, folder: '/nowhere' }
const head = (more: object) => ({ v: 1, build: 'b1', ...more })

describe('whatever the headers', () => {
  const { app } = tinyApp({
    assets,
    routes: { '/': { ...fallbacks('root'), page: hello }, '/a': { page: hello, loader: loads(() => 'a') } },
  })

  test.for<Readonly<Record<string, string>>>([
    { Accept: 'text/html' },
    { Accept: 'application/vnd.millrace.route-data' },
    { RSC: '1', 'Next-Router-Prefetch': '1' },
    { 'X-Requested-With': 'XMLHttpRequest', 'Content-Type': 'application/json' },
    { 'Sec-Purpose': 'prefetch;prerender', Purpose: 'prefetch' },
    { 'X-Millrace-Build': 'b1', 'X-Original-URL': '/_m/data/a', 'X-Rewrite-URL': '/a' },
    { 'X-HTTP-Method-Override': 'POST' },
  ])('a URL gives the same kind of answer: %j', async (headers) => {
    expect((await getData(app, '/a', headers)).header('content-type')).toBe('text/html; charset=utf-8')
    expect((await getData(app, '/_m/data/a', headers)).records[1]).toEqual({ segment: '/a#page', data: 'a' })
  })

  test.for(['b0', '', 'b1, b1'])('a client of the build %j is told so, and no loader runs for it', async (build) => {
    const ran: string[] = []
    const { app: counted } = tinyApp({
      assets,
      routes: { '/': { page: hello, loader: loads(() => void ran.push('x')) } },
    })
    const answer = await getData(counted, '/_m/data/', { 'X-Millrace-Build': build })
    expect([answer.status, answer.records]).toEqual([409, [head({ document: true }), { done: true }]])
    expect([answer.header('x-millrace-build'), answer.header('cache-control')]).toEqual(['b1', 'no-store'])
    expect(ran).toEqual([])
  })
})

describe('middleware of the application', () => {
  const guard: RequestHandler = (req, res, next) => {
    if (req.path.startsWith('/admin') || req.originalUrl.startsWith('/hidden')) res.status(401).send('no')
    else next()
  }
  const { app } = tinyApp({
    assets,
    middleware: [
      guard,
      (req, _res, next) => next(req.path === '/throws' ? new Error('secret-canary') : undefined),
      (_req, res, next) => {
        res.setHeader('Cache-Control', 'public, max-age=600')
        next()
      },
    ],
    routes: {
      '/': { ...fallbacks('root'), page: hello },
      '/admin/x': { page: hello, loader: loads(() => 'secret-canary') },
      '/hidden': { page: hello, loader: loads(() => 'secret-canary') },
      '/throws': { page: hello },
      '/open': { page: hello, loader: loads(() => 1) },
    },
  })

  test.for(['/admin/x', '/hidden'])('guards the data of %s as it guards the document', async (path) => {
    for (const url of [path, `/_m/data${path}`, `/_m/data${path}?${wanting(`${path}#page`)}`]) {
      const { status, text } = await getData(app, url)
      expect([status, text]).toEqual([401, 'no'])
    }
  })

  test('that throws leaves data to the document', async () => {
    const { status, records, text, header } = await getData(app, '/_m/data/throws')
    expect([status, records]).toEqual([500, [head({ document: true }), { done: true }]])
    expect(header('cache-control')).toBe('no-store')
    expect(text).not.toContain('secret-canary')
  })

  test('cannot make data public by a header that it means for documents', async () => {
    expect((await getData(app, '/_m/data/open')).header('cache-control')).toBe('private, no-store')
  })

  test('may answer any URL as it likes, so that nothing is said about other queries', async () => {
    expect((await getData(app, '/_m/data/open')).records[0]).toMatchObject({ scope: 'url' })
  })
})

test('what middleware leaves for a request reaches loaders of documents and data, and handlers', async () => {
  const visitorOf = ({ locals }: LoaderContext): string => `visitor ${String(locals['visitor'])}`
  const { app } = tinyApp({
    assets,
    middleware: [
      (req, res, next) => {
        res.locals['visitor'] = req.headers['x-visitor']
        next()
      },
    ],
    routes: {
      '/': {
        page: page(({ data }: { data: string }) => <p>{data}</p>),
        loader: loads(({ context }) => visitorOf(context)),
      },
      '/handler': {
        handler: moduleOf({ GET: ({ context }: LoaderArgs) => new Response(visitorOf(context)) }) as never,
      },
    },
  })
  const get = async (url: string, name: string) => (await getData(app, url, { 'X-Visitor': name })).text
  expect(await get('/', 'ann')).toContain('<p>visitor ann</p>')
  expect(await get('/_m/data/', 'bob')).toContain('"data":"visitor bob"')
  expect(await get('/handler', 'cid')).toBe('visitor cid')
})
