/** What a loader, a rule or a handler calls public, although something of its visitor was read. */
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import type { HandlerArgs, LoaderArgs } from '../../src/server/api/loader-types.ts'
import { ROUTE_DATA_PREFIX } from '../../src/shared/protocol/route-data.ts'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const SENT = {
  Cookie: 'theme=dark',
  Authorization: 'Bearer x',
  Accept: 'text/html',
  'X-Api-Key': 'x',
  'Sec-Purpose': 'prefetch',
}
const PUBLIC = 'public, max-age=0, s-maxage=60'

/** What the client of the tests knows besides its types. */
interface Sent {
  readonly headers: Readonly<Record<string, string>>
  readonly res: { readonly rawHeaders: readonly string[] }
}

interface Options {
  /** What the layout's loader, or the handler, reads. */
  readonly read: (context: LoaderArgs['context'], request: Request) => unknown
  /** What the page's loader, or the handler, declares. */
  readonly vary?: string
}

function publicApp({ read, vary }: Options) {
  const share = (headers: Headers): void => {
    headers.set('Cache-Control', PUBLIC)
    if (vary !== undefined) headers.set('Vary', vary)
  }
  return tinyApp({
    middleware: [(_req, res, next) => (Object.assign(res.locals, { user: 'ada' }), next())],
    rules: { headers: [{ source: '/ruled', headers: [{ key: 'Cache-Control', value: PUBLIC }] }] },
    routes: {
      '/': {
        layout: page(({ children }: { children: unknown }) => children),
        layoutLoader: moduleOf({
          loader: ({ context, request }: LoaderArgs) => ({ name: read(context, request) ?? 'nobody' }),
        }),
      },
      '/rates': {
        page: page(() => <p>rates</p>),
        loader: moduleOf({ loader: ({ context }: LoaderArgs) => (share(context.headers), {}) }),
      },
      '/ruled': { page: page(() => <p>ruled</p>) },
      '/handled': {
        handler: moduleOf({
          GET: ({ context, request: asked }: HandlerArgs) => {
            const response = Response.json(read(context, asked) ?? 'nobody')
            share(response.headers)
            return response
          },
        }),
      },
      '/given': {
        handler: moduleOf({
          GET: ({ context, request: asked }: HandlerArgs) => {
            share(context.headers)
            return Response.json(read(context, asked) ?? 'nobody')
          },
        }),
      },
    } as never,
  }).app
}

const PATHS = ['/rates', `${ROUTE_DATA_PREFIX}/rates`, '/handled', '/given'] as const

describe.each([...PATHS, '/ruled'])('%s', (path) => {
  const theme: Options['read'] = (context) => context.cookie('theme')

  test('is not public for a visitor whose cookie was read, and by cookies for others', async () => {
    const app = publicApp({ read: theme })
    const own = await request(app).get(path).set('Cookie', 'theme=dark').expect(200)
    expect(own.headers['cache-control']).toMatch(/^private\b/)
    for (const cookie of ['', 'other=1']) {
      const { headers } = await request(app).get(path).set('Cookie', cookie).expect(200)
      expect(headers['cache-control']).toBe(PUBLIC)
      expect(headers['vary']).toMatch(/\bCookie\b/)
    }
  })

  test('is not public for a visitor whose header was read', async () => {
    const app = publicApp({ read: (_context, asked) => asked.clone().headers.get('Cookie') })
    const own = await request(app).get(path).set('Cookie', 'theme=dark').expect(200)
    expect(own.headers['cache-control']).toMatch(/^private\b/)
    const other = await request(app).get(path).expect(200)
    expect([other.headers['cache-control'], other.headers['vary']]).toEqual([
      PUBLIC,
      expect.stringMatching(/\bCookie\b/),
    ])
    for (const read of [
      (_context, asked) => Object.fromEntries(asked.headers),
      (_context, asked) => new Headers(asked.headers).get('cookie'),
      (_context, asked) => [...asked.headers.keys()].length,
    ] satisfies Options['read'][]) {
      const copied = await request(publicApp({ read })).get(path).set('Cookie', 'theme=dark').expect(200)
      expect(copied.headers['cache-control']).toMatch(/^private\b/)
    }
    const keyed = publicApp({ read: (_context, asked) => asked.headers.has('authorization') })
    const signed = await request(keyed).get(path).set('Authorization', 'Bearer x').expect(200)
    expect(signed.headers['cache-control']).toMatch(/^private\b/)
    expect((await request(keyed).get(path).expect(200)).headers['cache-control']).toBe(PUBLIC)
  })

  test('is not public if locals were read', async () => {
    const app = publicApp({ read: (context) => (context.locals as { user: string }).user })
    expect((await request(app).get(path).expect(200)).headers['cache-control']).toMatch(/^private\b/)
  })

  test('is not public for a visitor whose other header was read, and by this header for others', async () => {
    for (const read of [
      (_context: LoaderArgs['context'], asked: Request) => asked.headers.get('Accept-Language'),
      (_context: LoaderArgs['context'], asked: Request) => asked.clone().headers.has('accept-language'),
    ]) {
      const app = publicApp({ read })
      const own = await request(app).get(path).set('Accept-Language', 'de').expect(200)
      expect(own.headers['cache-control']).toMatch(/^private\b/)
      const other = await request(app).get(path).expect(200)
      expect([other.headers['cache-control'], other.headers['vary']]).toEqual([
        PUBLIC,
        expect.stringMatching(/\baccept-language\b/),
      ])
    }
  })

  test('is public only if its author says so where the address was read', async () => {
    const app = publicApp({ read: (context) => context.address })
    const { headers } = await request(app).get(path).expect(200)
    expect(headers['cache-control']).toMatch(path === '/ruled' ? /^private\b/ : /^public\b/)
  })

  test('is public if what was read names a request, or its condition', async () => {
    const names = [
      'if-none-match',
      'traceparent',
      'sentry-trace',
      'b3',
      'x-b3-traceid',
      'x-amzn-trace-id',
      'x-datadog-trace-id',
      'cf-ray',
      'x-amz-cf-id',
      'via',
      'X-Request-ID',
      'X-Correlation-ID',
    ]
    const app = publicApp({ read: (_context, asked) => names.map((name) => asked.headers.get(name)).length })
    const { headers } = await request(app)
      .get(path)
      .set(Object.fromEntries(names.map((name) => [name, '"x"'])))
      .expect(200)
    expect(headers['cache-control']).toBe(PUBLIC)
    const other = publicApp({ read: (_context, asked) => asked.headers.get('if-user') })
    const own = await request(other).get(path).set('If-User', 'ada').expect(200)
    expect(own.headers['cache-control']).toMatch(/^private\b/)
  })

  test('is public by the encodings, if they were read', async () => {
    const app = publicApp({ read: (_context, asked) => asked.headers.get('Accept-Encoding') })
    const { headers } = await request(app).get(path).set('Accept-Encoding', 'br').expect(200)
    expect([headers['cache-control'], headers['vary']?.match(/accept-encoding/gi)]).toEqual([
      PUBLIC,
      [expect.anything()],
    ])
  })

  test('is public if nothing of the visitor was read', async () => {
    for (const read of [
      () => 'all',
      (context: LoaderArgs['context']) => context.origin,
      (_context: LoaderArgs['context'], asked: Request) => asked.url + asked.headers.get('host'),
    ]) {
      const { headers } = await request(publicApp({ read })).get(path).set('Cookie', 'theme=dark').expect(200)
      expect(headers['cache-control']).toBe(PUBLIC)
      expect(headers['vary'] ?? '').not.toContain('Cookie')
    }
  })
})

test.each(PATHS)('%s is public by what its author says it depends on', async (path) => {
  for (const [vary, read, caching] of [
    ['Cookie', (context) => context.cookie('theme'), PUBLIC],
    ['Accept-Language, cookie', (context) => context.cookie('theme'), PUBLIC],
    ['Accept-Language', (context) => context.cookie('theme'), /^private\b/],
    ['Authorization', (_context, asked) => asked.headers.get('authorization'), PUBLIC],
    ['Cookie', (_context, asked) => asked.headers.get('authorization'), /^private\b/],
    ['X-Tenant', ({ locals }) => Object.keys(locals).length, PUBLIC],
    ['Host', ({ locals }) => Object.keys(locals).length, PUBLIC],
    ['Accept-Encoding, Origin', ({ locals }) => Object.keys(locals).length, /^private\b/],
    ['Accept, X-Forwarded-Proto, X-Requested-With', ({ locals }) => Object.keys(locals).length, /^private\b/],
    ['Accept', (_context, asked) => asked.headers.get('accept'), PUBLIC],
    ['*', (_context, asked) => asked.headers.get('x-api-key'), PUBLIC],
    ['Accept', (_context, asked) => asked.headers.get('x-api-key'), /^private\b/],
    ['Purpose, Sec-Purpose', ({ locals }) => Object.keys(locals).length, /^private\b/],
  ] as const satisfies [string, Options['read'], string | RegExp][]) {
    const { headers } = await request(publicApp({ read, vary })).get(path).set(SENT).expect(200)
    expect([vary, headers['cache-control']]).toEqual([vary, expect.stringMatching(caching)])
    expect(headers['vary']?.match(/cookie/gi)?.length ?? 0).toBeLessThan(2)
    expect(headers['vary']?.split(', ')).toEqual(expect.arrayContaining(vary.split(', ')))
  }
})

test.each(PATHS)('%s has one Vary, also for caches that read only one', async (path) => {
  const app = publicApp({ read: (_context, asked) => asked.headers.get('x-lang'), vary: 'Cookie' })
  const { headers, res } = (await request(app).get(path).set('Accept-Encoding', 'br').expect(200)) as unknown as Sent
  expect(res.rawHeaders.filter((name) => name.toLowerCase() === 'vary')).toHaveLength(1)
  for (const name of ['Accept-Encoding', 'Cookie', 'x-lang']) expect(headers['vary']).toContain(name)
})

test('what a handler calls private by context.headers, no rule makes public, nor its own response', async () => {
  const app = tinyApp({
    rules: { headers: [{ source: '/own', headers: [{ key: 'Cache-Control', value: PUBLIC }] }] },
    routes: {
      '/own': {
        handler: moduleOf({
          GET: ({ context, request: asked }: HandlerArgs) => {
            const [given, own] = new URL(asked.url).search.slice(1).split('&')
            context.headers.set('Cache-Control', `${given}, max-age=60`)
            return new Response('own', { headers: own === undefined ? {} : { 'Cache-Control': `${own}, max-age=5` } })
          },
        }),
      },
    } as never,
  }).app
  for (const [given, caching] of [
    ['private', 'private, max-age=60'],
    ['no-store', 'no-store, max-age=60'],
    ['private&public', 'private, max-age=60'],
    ['public&private', 'private, max-age=5'],
    ['private&no-store', 'no-store, max-age=5'],
    ['public&public', PUBLIC],
  ] as const)
    expect((await request(app).get(`/own?${given}`).expect(200)).headers['cache-control']).toBe(caching)
})

describe('a stream that reads something of the visitor after a head for all', () => {
  /** Writes something, waits for the head to be sent, and writes what it then reads. */
  const lateApp = (read: Options['read'], vary?: string, isRuled = false) => {
    let hasBegun: () => boolean = () => false
    const caching = { 'Cache-Control': PUBLIC }
    const ruled = Object.entries(caching).map(([key, value]) => ({ key, value }))
    return tinyApp({
      rules: { headers: isRuled ? [{ source: '/late', headers: ruled }] : [] },
      middleware: [(_req, res, next) => ((hasBegun = () => res.headersSent), next())],
      routes: {
        '/late': {
          handler: moduleOf({
            GET: ({ context, request: asked }: HandlerArgs) => {
              const pull = async (to: ReadableStreamDefaultController) => {
                to.enqueue(new TextEncoder().encode('begun '))
                while (!hasBegun()) await new Promise(setImmediate)
                to.enqueue(new TextEncoder().encode(`read ${JSON.stringify(read(context, asked))}`))
                to.close()
              }
              const headers = { ...(isRuled ? {} : caching), ...(vary === undefined ? {} : { Vary: vary }) }
              return new Response(new ReadableStream({ pull }), { headers })
            },
          }),
        },
      } as never,
    })
  }

  const READS = [
    ['context.cookie()', (context) => context.cookie('theme'), 'Cookie'],
    ['The header cookie', (_context, asked) => asked.headers.get('cookie'), 'Cookie'],
    ['The header authorization', (_context, asked) => asked.headers.get('Authorization'), 'Authorization'],
    ['The header cookie', (_context, asked) => new Headers(asked.headers).get('cookie'), 'Cookie, Authorization'],
    ['The header cookie', (_context, { headers }) => Object.fromEntries(headers), 'Cookie, Authorization'],
    ['The header cookie', (_context, { headers }) => headers.forEach(() => undefined), 'Cookie, Authorization'],
    ['The header x-api-key', (_context, asked) => asked.headers.get('X-Api-Key'), 'X-Api-Key'],
    ['context.locals', ({ locals }) => Object.keys(locals), 'X-Tenant'],
    ['context.prefetch', ({ prefetch }) => prefetch, 'Purpose, Sec-Purpose'],
  ] as const satisfies readonly [string, Options['read'], string][]

  test.for(READS)('is cut off: %s', async ([what, read]) => {
    const { app, logs } = lateApp(read)
    await expect(request(app).get('/late').set(SENT)).rejects.toThrow(/aborted|hang up|reset/)
    expect(JSON.stringify(logs)).toContain(`${what} was used after the head of an answer`)
  })

  test.for(READS)('is not, where its head names what it depends on: %s', async ([, read, vary]) => {
    const { text, headers } = await request(lateApp(read, vary).app).get('/late').set(SENT).expect(200)
    expect([text, headers['cache-control']]).toEqual([expect.stringContaining('read '), PUBLIC])
  })

  test('is cut off where a rule made it public and it reads the address, which its author may', async () => {
    const read: Options['read'] = ({ address }) => address
    await expect(request(lateApp(read, undefined, true).app).get('/late')).rejects.toThrow(/aborted|hang up|reset/)
    for (const app of [lateApp(read).app, lateApp(read, 'X-Tenant', true).app]) {
      const { text, headers } = await request(app).get('/late').expect(200)
      expect([text, headers['cache-control']]).toEqual([expect.stringContaining('read '), PUBLIC])
    }
  })

  test('is not for a visitor who has no cookie', async () => {
    const { text } = await request(lateApp((context) => context.cookie('theme')).app)
      .get('/late')
      .expect(200)
    expect(text).toContain('read ')
  })
})

test('a handler that chooses the encoding itself is stored for each of them', async () => {
  const app = tinyApp({
    routes: {
      '/tile': {
        handler: moduleOf({
          GET: ({ request: asked }: HandlerArgs) => {
            const isSmall = asked.headers.get('accept-encoding')?.includes('x-own') === true
            const headers = { 'Content-Type': 'image/png', 'Cache-Control': PUBLIC }
            return new Response('tile', {
              headers: { ...headers, ...(isSmall ? { 'Content-Encoding': 'x-own' } : {}) },
            })
          },
        }),
      },
    } as never,
  }).app
  for (const encoding of ['x-own', 'identity']) {
    const { headers } = await request(app).get('/tile').set('Accept-Encoding', encoding).expect(200)
    expect([headers['cache-control'], headers['vary']]).toEqual([PUBLIC, 'accept-encoding'])
  }
})
