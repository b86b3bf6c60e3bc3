import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import request from 'supertest'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { notFound, redirect } from '../../src/shared/control-flow.ts'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { portOf } from '../support/listening.ts'
import { fallbacks, moduleOf, page, tinyApp } from '../support/tiny-app.tsx'
import { connectRaw, getRequest, requestRaw } from '../support/raw-http.ts'

const hello = page(() => <h1>Hello</h1>, { title: 'Hello' })

describe('loaders', () => {
  test('of all matched segments start together, and their times are told', async () => {
    const order: string[] = []
    const slow = (name: string) =>
      moduleOf({
        loader: async () => {
          order.push(`${name} starts`)
          await wait(20)
          order.push(`${name} ends`)
        },
      })
    const layout = moduleOf({ default: (({ children }: { children: unknown }) => children) as never })
    const { app } = tinyApp({
      routes: { '/': { layout, layoutLoader: slow('root') }, '/a': { page: hello, loader: slow('page') } },
    })
    const { headers } = await request(app).get('/a')
    expect(order.slice(0, 2)).toEqual(['root starts', 'page starts'])
    expect(headers['server-timing']).toMatch(
      /loader;desc="\/#layout";dur=\d.*loader;desc="\/a#page";dur=\d.*shell;dur=/,
    )
  })

  test('that ignore their signal do not hold the answer back for ever', async () => {
    const { app, logs } = tinyApp({
      environment: { RENDER_TIMEOUT_MS: '50' },
      routes: {
        '/': fallbacks('root'),
        '/a': { page: hello, loader: moduleOf({ loader: () => new Promise(() => undefined) }) },
      },
    })
    const { text } = await request(app).get('/a').expect(500)
    expect(text).toContain('root error server')
    expect(logs.filter(({ level }) => level === 50)).toHaveLength(1)
  })

  const ends = ['/from', '/missing', '/broken'].flatMap((from) => [from, `/_m/data${from}`])
  test.for(ends.flatMap((path) => [{ path }, { path, cache: 'shared' as const }]))(
    'that still run end with the answer of an outer one: $path, cache $cache',
    async ({ path, ...kept }) => {
      const asked: AbortSignal[] = []
      const slow = moduleOf({
        loader: ({ signal }: LoaderArgs) => {
          asked.push(signal)
          return new Promise(() => undefined)
        },
      })
      const layout = moduleOf({ default: (({ children }: { children: unknown }) => children) as never })
      const stops = (stop: () => never) => ({
        layout,
        layoutLoader: moduleOf({ loader: stop }),
        page: hello,
        loader: slow,
        ...kept,
      })
      const { app } = tinyApp({
        routes: {
          '/': fallbacks('root'),
          '/from': stops(() => redirect('/')),
          '/missing': stops(() => notFound()),
          '/broken': stops(() => {
            throw new Error('broken')
          }),
        },
      })
      await request(app).get(path)
      await vi.waitFor(() => expect(asked.map(({ aborted }) => aborted)).toEqual([true]))
    },
  )

  test('set headers of the answer; a cookie makes it private', async () => {
    const { app } = tinyApp({
      routes: {
        '/public': {
          page: hello,
          loader: moduleOf({
            loader: ({ context }: LoaderArgs) => void context.headers.set('Cache-Control', 'public, max-age=60'),
          }),
        },
        '/cookie': {
          page: hello,
          loader: moduleOf({
            loader({ context }: LoaderArgs) {
              context.headers.set('Cache-Control', 'public, max-age=60')
              context.headers.append('Set-Cookie', 'a=1')
              context.headers.append('Set-Cookie', 'b=2')
            },
          }),
        },
      },
    })
    const open = await request(app).get('/public')
    expect(open.headers['cache-control']).toBe('public, max-age=60')
    expect(open.headers['content-security-policy']).not.toContain('nonce')
    const cookie = await request(app).get('/cookie')
    expect(cookie.headers['cache-control']).toBe('private, no-store')
    expect(cookie.headers['set-cookie']).toEqual(['a=1', 'b=2'])
  })

  test.for(['/', '/_m/data/'])(
    '%s: a cookie of middleware makes it private, and its Vary is added to ours',
    async (url) => {
      const { app } = tinyApp({
        routes: {
          '/': {
            page: hello,
            loader: moduleOf({
              loader: ({ context }: LoaderArgs) => context.headers.set('Cache-Control', 'public, max-age=60'),
            }),
          },
        },
        middleware: [
          (req, res, next) => {
            if (req.headers['x-new'] !== undefined) res.cookie('variant', 'a')
            res.vary('Origin')
            next()
          },
        ],
      })
      const known = await request(app).get(url)
      expect(known.headers['cache-control']).toBe('public, max-age=60')
      const varies = url === '/' ? ['Accept-Encoding'] : ['Accept-Encoding', 'X-Millrace-Build']
      expect(known.headers['vary']?.split(', ').toSorted()).toEqual([...varies, 'Origin'].toSorted())
      const fresh = await request(app).get(url).set('X-New', '1')
      expect(fresh.headers['set-cookie']).toEqual(['variant=a; Path=/'])
      expect(fresh.headers['cache-control']).toBe('private, no-store')
    },
  )

  test('cannot make a document shared that carries a nonce', async () => {
    const { app } = tinyApp({
      routes: {
        '/': {
          page: hello,
          loader: moduleOf({
            loader({ context }: LoaderArgs) {
              context.headers.set('Cache-Control', 'public, max-age=60')
              return { late: wait(5, 'x') }
            },
          }),
        },
      },
    })
    const { headers } = await request(app).get('/')
    expect(headers['content-security-policy']).toContain("'nonce-")
    expect(headers['cache-control']).toBe('private, no-cache')
  })

  test('nor rules make a failure cacheable', async () => {
    const { app } = tinyApp({
      routes: {
        '/': fallbacks('root'),
        '/gone': { page: page((): never => notFound()) },
        '/broken': { page: hello, loader: moduleOf({ loader: () => Promise.reject(new Error('broken')) }) },
        '/here': { page: hello },
      },
      rules: { headers: [{ source: '/:path*', headers: [{ key: 'Cache-Control', value: 'public, max-age=60' }] }] },
    })
    expect((await request(app).get('/here').expect(200)).headers['cache-control']).toBe('public, max-age=60')
    expect((await request(app).get('/gone').expect(404)).headers['cache-control']).toBe('no-store')
    expect((await request(app).get('/broken').expect(500)).headers['cache-control']).toBe('no-store')
    expect((await request(app).get('/gone/').expect(308)).headers['cache-control']).not.toContain('public')
  })

  test('get params decoded once and search by schema; what the schema refuses is a 400 that names it', async () => {
    const seen: unknown[] = []
    const { app } = tinyApp({
      routes: {
        '/p/[id]': {
          page: hello,
          loader: moduleOf({
            search: z.object({ n: z.coerce.number().int().default(7) }),
            loader: ({ params, search }: LoaderArgs<'/p/[id]'>) => void seen.push({ ...params }, search),
          }),
        },
      },
    })
    await request(app).get('/p/a%20b%252F?n=3&id=query').expect(200)
    await request(app).get('/p/x').expect(200)
    expect(seen).toEqual([{ id: 'a b%2F' }, { n: 3 }, { id: 'x' }, { n: 7 }])
    const refused = await request(app).get('/p/x?n=%3Cscript%3E').expect(400)
    expect(refused.text).toContain('n: ')
    expect(refused.headers['cache-control']).toBe('no-store')
  })
})

describe('methods', () => {
  const { app } = tinyApp({
    routes: {
      '/': { ...fallbacks('root'), page: hello },
      '/feed': {
        handler: moduleOf({
          GET: () => Response.json({ ok: true }),
          POST: async ({ request: sent }: LoaderArgs) => new Response(await sent.text(), { status: 201 }),
          constructor: () => new Response('never'),
        }),
      },
    },
  })

  test('that a page has no use for get 405 with Allow; OPTIONS gets 204', async () => {
    for (const method of ['post', 'put', 'patch', 'delete'] as const) {
      const answer = await request(app)[method]('/').expect(405)
      expect(answer.headers['allow']).toBe('GET, HEAD, OPTIONS')
    }
    const options = await request(app).options('/').expect(204)
    expect(options.headers['allow']).toBe('GET, HEAD, OPTIONS')
  })

  test('POST is among them on a page of which the build says that it has an action, and below such a layout', async () => {
    const manifest = { buildId: 'b1', entryImports: [], entryStyles: [], segments: {} }
    const { app: built } = tinyApp({
      assets: { manifest: { ...manifest, actionSegments: ['/#page', '/area#layout'] }, folder: '/nowhere' },
      routes: {
        '/': { page: page(() => <p>form</p>) },
        '/other': { page: page(() => <p>none</p>) },
        '/area': { layout: moduleOf({ default: (({ children }: { children: unknown }) => children) as never }) },
        '/area/inside': { page: page(() => <p>inside</p>) },
      },
    })
    const allowed = async (path: string) => {
      const [refused, asked] = await Promise.all([request(built).put(path), request(built).options(path)])
      expect([refused.status, asked.status]).toEqual([405, 204])
      expect(asked.headers['allow']).toBe(refused.headers['allow'])
      return refused.headers['allow']
    }
    expect(await allowed('/')).toBe('GET, HEAD, POST, OPTIONS')
    expect(await allowed('/area/inside')).toBe('GET, HEAD, POST, OPTIONS')
    expect(await allowed('/other')).toBe('GET, HEAD, OPTIONS')

    const posted = async (path: string, type: string) => {
      const { status, headers } = await request(built).post(path).type(type).send('a=b')
      return [status, headers['allow']]
    }
    // Where POST is allowed, it is the form that is not right.
    expect(await posted('/', 'text/plain')).toEqual([415, undefined])
    expect(await posted('/area/inside', 'application/json')).toEqual([415, undefined])
    expect(await posted('/', 'application/x-www-form-urlencoded')).toEqual([404, undefined])
    expect(await posted('/other', 'text/plain')).toEqual([405, 'GET, HEAD, OPTIONS'])
    expect(await posted('/other', 'application/x-www-form-urlencoded')).toEqual([405, 'GET, HEAD, OPTIONS'])
  })

  test('of a resource route are those that it exports', async () => {
    expect((await request(app).get('/feed').expect(200)).body).toEqual({ ok: true })
    expect((await request(app).post('/feed').type('text').send('sent').expect(201)).text).toBe('sent')
    await request(app).head('/feed').expect(200)
    const refused = await request(app).delete('/feed').expect(405)
    expect(refused.headers['allow']).toBe('GET, POST, HEAD, OPTIONS')
    const port = await portOf(app)
    const answer = await requestRaw(port, 'constructor /feed HTTP/1.1\r\nHost: a\r\n\r\n')
    expect(answer.status).toBe(400)
  })
})

describe('a resource route', () => {
  const once = new Response('once')
  const { app, logs } = tinyApp({
    routes: {
      '/hook': {
        handler: moduleOf({ POST: async ({ request: sent }: LoaderArgs) => new Response(await sent.text()) }),
      },
      '/once': { handler: moduleOf({ GET: () => once }) },
      '/first': {
        handler: moduleOf({
          async POST({ request: sent }: LoaderArgs) {
            for await (const chunk of sent.body ?? []) return new Response(chunk)
            return new Response('nothing')
          },
        }),
      },
    },
  })
  afterEach(() => void vi.useRealTimers())

  test('that reads the body of a client who goes silent answers 408, and the connection ends', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const port = await portOf(app)
    using connection = await connectRaw(port)
    await connection.send('POST /hook HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nbody')
    while (vi.getTimerCount() === 0) await nextTurn()
    vi.advanceTimersByTime(10_000)
    const answer = await connection.response()
    expect([answer.status, answer.header('connection')]).toEqual([408, 'close'])
    vi.useRealTimers()
    expect(logs.filter(({ level }) => Number(level) >= 50)).toEqual([])
  })

  test('gets a body that comes in pieces as a whole', async () => {
    const port = await portOf(app)
    using connection = await connectRaw(port)
    await connection.send('POST /hook HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n')
    await nextTurn()
    await connection.send('2\r\nde\r\n0\r\n\r\n')
    expect((await connection.response()).text).toBe('abcde')
  })

  test('that has read enough of a body answers at once, and no other request follows on that connection', async () => {
    const port = await portOf(app)
    using connection = await connectRaw(port)
    await connection.send('POST /first HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\nbegun')
    const answer = await connection.response()
    expect([answer.status, answer.text, answer.header('connection')]).toEqual([200, 'begun', 'close'])
  })

  test('that returns one Response twice fails the second time, instead of sending half an answer', async () => {
    expect((await request(app).get('/once').expect(200)).text).toBe('once')
    const { text } = await request(app).get('/once').expect(500)
    expect(text).toMatch(/Digest: [0-9a-f]{12}/)
    await request(app).head('/once').expect(500)
    expect(JSON.stringify(logs)).toContain('has been read or sent before')
  })
})

describe('admission', () => {
  test('lets documents and data beyond the bound wait, then refuses them with 503, and never health', async () => {
    const gate = Promise.withResolvers<void>()
    const { app } = tinyApp({
      environment: { MAX_PENDING_RENDERS: '1' },
      routes: { '/slow': { page: hello, loader: moduleOf({ loader: () => gate.promise }) }, '/': { page: hello } },
    })
    const port = await portOf(app)
    const first = requestRaw(port, getRequest('/slow'))
    await expect.poll(() => app.admission.pending).toBe(1)
    // A page, its data, and the data of a URL that no route answers: its fallback is rendered as well.
    const urls = ['/', '/_m/data/', '/_m/data/nothing']
    const refused = urls.map((url) => requestRaw(port, getRequest(url)))
    await expect.poll(() => app.admission.waiting).toBe(3)
    for (const [at, answer] of (await Promise.all(refused)).entries()) {
      expect([urls[at], answer.status, answer.header('retry-after')]).toEqual([
        urls[at],
        503,
        expect.stringMatching(/^[1-4]$/),
      ])
    }
    expect((await requestRaw(port, getRequest('/healthz'))).status).toBe(200)
    // Who sends visitors here is told.
    app.readiness.markReady()
    const probe = await requestRaw(port, getRequest('/readyz'))
    expect([probe.status, probe.text]).toEqual([503, 'shedding\n'])
    gate.resolve()
    expect((await first).status).toBe(200)
    await expect.poll(async () => (await requestRaw(port, getRequest('/readyz'))).status).toBe(200)
    await expect.poll(async () => (await requestRaw(port, getRequest('/'))).status).toBe(200)
  })
})
