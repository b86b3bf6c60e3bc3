import request from 'supertest'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import type { MillraceApp } from '../../src/server/app.ts'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { defineSession } from '../../src/server/secrets/define-session.ts'
import { moduleOf, page, tinyApp, type TinyAppOptions } from '../support/tiny-app.tsx'

/** All visits are of one host, whatever port a test listens on. */
const visitor = (app: MillraceApp) => request.agent(app).set('Host', 'mills.example')

const shown = page(({ data }: { data: { shown: string } }) => <p id="shown">{data.shown.padEnd(2_000, '.')}</p>)

/** A page for everybody, with a loader that does something else besides. */
function open(beside: (args: LoaderArgs) => unknown = () => undefined, caching = 'public, max-age=60') {
  const state = { made: 0 }
  const loader = async (args: LoaderArgs) => {
    args.context.headers.set('Cache-Control', caching)
    await beside(args)
    state.made += 1
    return { shown: `made ${state.made}` }
  }
  return { state, route: { page: shown, loader: moduleOf({ loader }) } }
}

/** From here on nine documents in a row are refused. */
async function overload(app: MillraceApp): Promise<void> {
  for (let sample = 0; sample < 50; sample += 1) app.admission.sample({ latenessMs: 4_000, utilization: 1 })
  // A tenth is always let in: this is the one.
  await visitor(app).get('/let-in').expect(404)
}

type Headers = Readonly<Record<string, string>>

describe('a page for everybody, while the server refuses documents', () => {
  test('is given out as it was made before, and says so', async () => {
    const { state, route } = open()
    const { app, logs } = tinyApp({ routes: { '/': route } })
    const made = await visitor(app).get('/').expect(200)
    expect(made.headers['cache-status']).toBeUndefined()
    await overload(app)
    state.made = 0
    const kept = await visitor(app).get('/')
    expect(kept.status).toBe(200)
    expect(kept.text).toBe(made.text)
    expect(kept.headers).toMatchObject({
      age: '0',
      'cache-status': expect.stringMatching(/^Millrace; hit; ttl=(?:59|60); detail=overload$/),
    })
    for (const name of [
      'etag',
      'cache-control',
      'content-type',
      'vary',
      'content-security-policy',
      'x-content-type-options',
    ]) {
      expect([name, kept.headers[name]]).toEqual([name, made.headers[name]])
    }
    expect(kept.headers['server-timing']).toBeUndefined()
    expect(app.caches.documents).toMatchObject({ entries: 1, served: 1 })
    expect(
      logs.findLast(({ requestId, status }) => requestId !== undefined && status === 200)?.['refused'],
    ).toBeUndefined()
  })

  test('is of the host that is asked for: middleware may know another site by it', async () => {
    const { route } = open()
    const { app } = tinyApp({ routes: { '/': route } })
    await visitor(app).get('/').expect(200)
    await overload(app)
    await visitor(app).get('/').set('Host', 'other.example').expect(503)
    await visitor(app).get('/').expect(200)
  })

  test('comes in the coding that is asked for, without a body, or not at all where it is there already', async () => {
    const { route } = open()
    const { app } = tinyApp({ routes: { '/': route } })
    const made = await visitor(app).get('/').set('Accept-Encoding', 'br').expect(200)
    await overload(app)
    const gzip = await visitor(app).get('/').set('Accept-Encoding', 'gzip')
    expect([gzip.headers['content-encoding'], gzip.text]).toEqual(['gzip', made.text])
    const plain = await visitor(app).get('/').set({ 'Accept-Encoding': 'identity' })
    expect([plain.headers['content-encoding'], plain.text]).toEqual([undefined, made.text])
    const head = await visitor(app).head('/').set('Accept-Encoding', 'identity')
    expect([head.status, head.headers['content-length'], head.text]).toEqual([
      200,
      plain.headers['content-length'],
      undefined,
    ])
    const same = await visitor(app)
      .get('/')
      .set({ 'If-None-Match': made.headers['etag'] ?? '' })
    expect([same.status, same.text]).toEqual([304, ''])
    expect(same.headers['content-security-policy']).toBeUndefined()
    expect(same.headers).toMatchObject({ etag: made.headers['etag'], age: '0', 'cache-control': 'public, max-age=60' })
  })

  test('with the cookie that middleware gives to a new visitor, is kept by no cache on the way', async () => {
    const { app } = tinyApp({
      routes: { '/': open().route },
      middleware: [
        (req, res, next) => {
          if (req.headers.cookie === undefined) res.cookie('visitor', crypto.randomUUID())
          next()
        },
      ],
    })
    const known = { Cookie: 'visitor=1' }
    const { headers: made } = await visitor(app).get('/').set(known).expect(200)
    expect(made['cache-control']).toBe('public, max-age=60')
    await overload(app)
    for (const [status, asked] of [
      [200, {}],
      [304, { 'If-None-Match': made['etag'] ?? '' }],
    ] as const) {
      const { headers } = await visitor(app).get('/').set(asked).expect(status)
      expect(headers).toMatchObject({ age: '0', 'set-cookie': [expect.stringMatching(/^visitor=/)] })
      expect(headers['cache-control']).toBe('private, no-store')
    }
    expect((await visitor(app).get('/').set(known)).headers['cache-control']).toBe('public, max-age=60')
  })

  test('may be old, and is refused when it is too old', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
    onTestFinished(() => void vi.useRealTimers())
    const { app } = tinyApp({ routes: { '/': open().route } })
    await visitor(app).get('/').expect(200)
    await overload(app)
    vi.setSystemTime(Date.now() + 90_000)
    const { headers } = await visitor(app).get('/').expect(200)
    expect(headers).toMatchObject({ age: '90', 'cache-status': 'Millrace; hit; ttl=-30; detail=overload' })
    vi.setSystemTime(Date.now() + 270_001)
    await visitor(app).get('/').expect(503)
  })

  test('is kept for as long as visitors have it confirmed', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
    onTestFinished(() => void vi.useRealTimers())
    const { app } = tinyApp({ routes: { '/': { page: page(() => <p>same</p>) } }, rules: publicRule })
    const { headers } = await visitor(app).get('/').expect(200)
    vi.setSystemTime(Date.now() + 350_000)
    await visitor(app)
      .get('/')
      .set('If-None-Match', headers['etag'] ?? '')
      .expect(304)
    vi.setSystemTime(Date.now() + 100_000)
    await overload(app)
    expect((await visitor(app).get('/')).headers['age']).toBe('100')
    vi.setSystemTime(Date.now() + 261_000)
    expect((await visitor(app).get('/').set({ 'If-None-Match': 'W/"other"' })).status).toBe(503)
  })

  test.for([
    ['a tag of its data', 'browser'],
    ['a tag of what the server keeps', 'kept'],
    ['its path', '/'],
  ])('is refused once %s is dropped', async ([, target = '']) => {
    const { route } = open(async ({ context, cache }) => {
      cache({ tags: ['browser'] })
      await context.cached('k', { seconds: 60, tags: ['kept'] }, () => 1)
    })
    const drop = {
      handler: moduleOf({
        GET: async ({ context }: LoaderArgs) => {
          await context.revalidate(target)
          return new Response('')
        },
      }),
    }
    const { app } = tinyApp({ routes: { '/': route, '/drop': drop } })
    await visitor(app).get('/').expect(200)
    await overload(app)
    await visitor(app).get('/').expect(200)
    await visitor(app).get('/drop').expect(200)
    await visitor(app).get('/').expect(503)
  })
})

const publicRule = {
  headers: [{ source: '/:path*', headers: [{ key: 'Cache-Control', value: 'public, max-age=60' }] }],
}

/** Who comes first, and who then. */
interface Visits {
  readonly path?: string
  readonly secondPath?: string
  readonly first?: Headers
  readonly second?: Headers
  readonly missing?: boolean
}

describe('refused as ever is', () => {
  const session = defineSession({ name: 'session', schema: z.object({ user: z.string() }) })
  const { route } = open()
  const cases: readonly (readonly [string, Partial<TinyAppOptions>, Visits?])[] = [
    ['a page that nobody has been to', { routes: { '/': route, '/other': route } }, { secondPath: '/other' }],
    ['a page that is private', { routes: { '/': open(undefined, 'private, max-age=60').route } }],
    ['a page that says nothing', { routes: { '/': { page: page(() => <p>plain</p>) } } }],
    ['a page that must not be stored', { routes: { '/': open(undefined, 'public, no-store').route } }],
    ['a page whose loader has read a cookie', { routes: { '/': open(({ context }) => context.cookie('a')).route } }],
    ['a page whose loader has read the request', { routes: { '/': open(({ request: asked }) => asked.url).route } }],
    [
      'a page whose loader has read what middleware knows of the visitor',
      { routes: { '/': open(({ context }) => context.locals).route } },
    ],
    ['a page whose loader has read the address', { routes: { '/': open(({ context }) => context.address).route } }],
    [
      'a page whose loader has opened a session',
      { routes: { '/': open(({ context }) => session.open(context)).route } },
    ],
    [
      'a page whose layout has read a cookie, though a rule makes all pages public',
      {
        rules: publicRule,
        routes: {
          '/': {
            page: page(() => <p>plain</p>),
            layout: page(({ children }: { children: unknown }) => children),
            layoutLoader: moduleOf({ loader: ({ context }: LoaderArgs) => ({ user: context.cookie('user') ?? '' }) }),
          } as never,
        },
      },
    ],
    [
      'a page that sets a cookie',
      { routes: { '/': open(({ context }) => context.headers.append('Set-Cookie', 'a=1')).route } },
    ],
    [
      'a page that varies by a header',
      { routes: { '/': open(({ context }) => context.headers.set('Vary', 'Accept-Language')).route } },
    ],
    [
      'a page for which middleware sets a cookie',
      { routes: { '/': route }, middleware: [(_req, res, next) => (res.setHeader('Set-Cookie', 'a=1'), next())] },
    ],
    [
      'a page that middleware makes vary',
      { routes: { '/': route }, middleware: [(_req, res, next) => (res.setHeader('Vary', 'Cookie'), next())] },
    ],
    [
      'a page that was asked for with a password',
      { routes: { '/': route } },
      { first: { Authorization: 'Basic YTpi' } },
    ],
    ['who brings a password', { routes: { '/': route } }, { second: { Authorization: 'Basic YTpi' } }],
    ['a page that is not there', { routes: {}, rules: publicRule }, { missing: true }],
    [
      'a page that was asked for with other search params',
      { routes: { '/': open(({ search }) => search['a']).route } },
      { path: '/?a=1', secondPath: '/?a=2' },
    ],
  ]

  test.for(cases)('%s', async ([, options, visits = {}]) => {
    const { app } = tinyApp({ routes: {}, ...options })
    const { path = '/', secondPath = path, first = {}, second = {}, missing = false } = visits
    const been = await visitor(app).get(path).set(first)
    expect(been.status).toBe(missing ? 404 : 200)
    await overload(app)
    const answer = await visitor(app).get(secondPath).set(second)
    expect(answer.status).toBe(503)
    expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', 'retry-after': expect.any(String) })
    expect(answer.headers['cache-status']).toBeUndefined()
  })
})

describe('nothing of one visitor reaches another:', () => {
  test('headers of middleware are those of the visitor who asks', async () => {
    const { app } = tinyApp({
      routes: { '/': open().route },
      middleware: [(req, res, next) => (res.setHeader('X-Greeting', `hello ${req.headers['x-user']}`), next())],
    })
    await visitor(app).get('/').set('X-User', 'ann').expect(200)
    await overload(app)
    const answer = await visitor(app).get('/').set('X-User', 'bob')
    expect([answer.status, answer.headers['x-greeting']]).toEqual([200, 'hello bob'])
  })

  test('a page that a rule chooses by a cookie is kept for nobody, since its answer varies by all cookies', async () => {
    const options: Partial<TinyAppOptions> = {
      routes: { '/': open().route, '/beta': open().route },
      rules: {
        rewrites: {
          beforeFiles: [{ source: '/', has: [{ type: 'cookie', key: 'beta' }], destination: '/beta' }],
          afterFiles: [],
          fallback: [],
        },
      },
    }
    const { app } = tinyApp({ routes: {}, ...options })
    expect((await visitor(app).get('/').set('Cookie', 'beta=1')).headers['vary']).toContain('Cookie')
    await overload(app)
    expect((await visitor(app).get('/')).status).toBe(503)
    expect((await visitor(app).get('/').set({ Cookie: 'beta=1' })).status).toBe(503)
  })

  test('no nonce is given out twice', async () => {
    const { app } = tinyApp({ routes: { '/': open().route } })
    await visitor(app).get('/').expect(200)
    await overload(app)
    const { text, headers } = await visitor(app).get('/').expect(200)
    expect(text).not.toContain('nonce="')
    expect(headers['content-security-policy']).not.toContain('nonce')
  })
})

test('no place left is as good a reason as too much load', async () => {
  const held = Promise.withResolvers<void>()
  const { app } = tinyApp({
    routes: {
      '/': open().route,
      '/held': { page: shown, loader: moduleOf({ loader: () => held.promise.then(() => ({ shown: 'held' })) }) },
    },
    environment: { MAX_PENDING_RENDERS: '1' },
  })
  await visitor(app).get('/').expect(200)
  const holding = visitor(app)
    .get('/held')
    .then(({ status }) => status)
  await expect.poll(() => app.admission.pending).toBe(1)
  expect((await visitor(app).get('/').expect(200)).headers['cache-status']).toContain('detail=overload')
  await visitor(app).get('/_m/data/').expect(503)
  held.resolve()
  expect(await holding).toBe(200)
})

test('without load nothing is given out twice', async () => {
  const { app } = tinyApp({ routes: { '/': open().route } })
  for (const made of ['made 1', 'made 2']) {
    const answer = await visitor(app).get('/').expect(200)
    expect([answer.text.includes(made), answer.headers['cache-status']]).toEqual([true, undefined])
  }
  expect(app.caches.documents.served).toBe(0)
})
