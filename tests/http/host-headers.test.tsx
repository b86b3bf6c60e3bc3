/** Headers that a host has set before the application answers, as `helmet()` and its like do. */
import { writeFile } from 'node:fs/promises'
import { OutgoingMessage } from 'node:http'
import { join } from 'node:path'
import { Suspense, use } from 'react'
import express, { type RequestHandler, type Response as ExpressResponse } from 'express'
import request from 'supertest'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { LoaderArgs } from '../../src/server/api/loader-types.ts'
import { sendFile } from '../../src/server/api/send-file.ts'
import { NO_ASSETS, RECORDER_SETTINGS } from '../../src/server/assets/manifest.ts'
import { action } from '../../src/server/routes/actions/action.ts'
import { actionId } from '../../src/server/routes/actions/action-id.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { moduleOf, page, tinyApp, type TinyAppOptions } from '../support/tiny-app.tsx'

const POLICY = 'content-security-policy'
const COMMON =
  "default-src 'self';base-uri 'self';form-action 'self';frame-ancestors 'self';img-src 'self' data:;object-src 'none';" +
  "script-src 'self';script-src-attr 'none';style-src 'self' https: 'unsafe-inline';upgrade-insecure-requests"

const setting =
  (headers: Readonly<Record<string, string | string[]>>): RequestHandler =>
  (_req, res, next) => {
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
    next()
  }

const setHeader = OutgoingMessage.prototype.setHeader
/** Ways in which libraries set a cookie while the head is written. */
const LATE_COOKIES: readonly [string, (res: ExpressResponse) => void][] = [
  ['by the response', (res) => beforeHead(res, () => void res.append('Set-Cookie', 'sid=1'))],
  // As the package `cookies`.
  ['by the prototype', (res) => beforeHead(res, () => void setHeader.call(res, 'Set-Cookie', 'sid=1'))],
  [
    'as an argument',
    (res) => {
      const writeHead = res.writeHead.bind(res)
      res.writeHead = ((status: number) => writeHead(status, { 'Set-Cookie': 'sid=1' })) as typeof writeHead
    },
  ],
]

/** As `on-headers` does. */
function beforeHead(res: ExpressResponse, run: () => void): void {
  const writeHead = res.writeHead.bind(res)
  res.writeHead = ((status: number) => {
    run()
    return writeHead(status)
  }) as typeof writeHead
}

const Late = ({ value }: { value: Promise<string> }) => <b>{use(value)}</b>
const manifest = { ...NO_ASSETS, reports: { recorder: `void ${RECORDER_SETTINGS}`, sdk: '/_m/assets/sdk.js' } }
const ACTIONS = 'actions.server.ts'

async function hosted(inFront: RequestHandler | readonly RequestHandler[], more: Partial<TinyAppOptions> = {}) {
  const folder = await makeTempDir('host-headers')
  onTestFinished(() => folder.remove())
  await writeFile(join(folder.path, 'page.html'), '<script src="/files/other.js"></script>')
  const ran: unknown[] = []
  const { app, logs } = tinyApp({
    routes: {
      '/': { page: page(() => <h1>Whole</h1>) },
      '/late': {
        page: page(({ data }: { data: { value: Promise<string> } }) => (
          <Suspense fallback="waiting">
            <Late value={data.value} />
          </Suspense>
        )),
        loader: moduleOf({ loader: () => ({ value: new Promise((resolve) => setImmediate(resolve, 'x')) }) }),
      },
      '/shared': {
        page: page(() => <h1>Shared</h1>),
        loader: moduleOf({
          loader: ({ context }: LoaderArgs<never>) => context.headers.set('Cache-Control', 'public, max-age=60'),
        }),
      },
      '/strict': {
        page: page(() => <h1>Strict</h1>),
        loader: moduleOf({
          loader: ({ context }: LoaderArgs<never>) => context.headers.set('Referrer-Policy', 'no-referrer'),
        }),
      },
      '/files/[name]': {
        handler: moduleOf({
          GET: ({ params }: { params: { name: string } }) => sendFile(params.name, { root: folder.path }),
        }),
      },
      '/shared-files/[name]': {
        handler: moduleOf({
          GET({ params }: { params: { name: string } }) {
            const file = sendFile(params.name, { root: folder.path })
            file.headers.set('Cache-Control', 'public, max-age=60')
            return file
          },
        }),
      },
      '/handler': {
        handler: moduleOf({
          GET: () =>
            new Response('<h1>Hi</h1>', {
              headers: {
                'Content-Type': 'text/html',
                'Content-Security-Policy': 'sandbox',
                'Referrer-Policy': 'no-referrer',
                'Cross-Origin-Resource-Policy': 'cross-origin',
                'Cache-Control': 'public, max-age=60',
              },
            }),
        }),
      },
    },
    assets: { manifest, folder: folder.path },
    actions: { [ACTIONS]: { save: action({ handler: () => void ran.push('saved') }) } },
    ...more,
  })
  const host = express().disable('x-powered-by')
  host.use(...[inFront].flat(), app)
  const get = (path: string) => request(host).get(path).set('Host', 'shop.test')
  return { host, get, logs, ran }
}

const warnings = (logs: readonly Record<string, unknown>[]) => logs.filter(({ level }) => level === 40)

describe('a policy of the host', () => {
  test.for(['/', '/late'])('has the nonce of the document %s, and nothing else is changed', async (path) => {
    const { get, logs } = await hosted(setting({ 'Content-Security-Policy': COMMON }))
    const { text, headers } = await get(path).expect(200)
    const nonce = /<script nonce="([^"]+)"/.exec(text)?.[1] ?? ''
    expect(nonce).toMatch(/^[\w+/=]{22,}$/)
    expect(headers[POLICY]).toBe(COMMON.replace("script-src 'self'", `script-src 'self' 'nonce-${nonce}'`))
    await get(path).expect(200)
    expect(warnings(logs)).toEqual([
      expect.objectContaining({
        forbidden: ['upgrade-insecure-requests'],
        msg: expect.stringContaining('set in front'),
      }),
    ])
  })

  test('that only reports is fitted too, and beside it the document has its own', async () => {
    const { get, logs } = await hosted(setting({ 'Content-Security-Policy-Report-Only': "default-src 'none'" }))
    const { headers } = await get('/').expect(200)
    const nonce = /'nonce-[^']+'/.exec(headers[POLICY] ?? '')?.[0]
    expect(headers[`${POLICY}-report-only`]).toBe(`default-src 'none'; script-src ${nonce}; style-src ${nonce}`)
    expect(warnings(logs)).toEqual([])
  })

  test('of several headers is fitted in each', async () => {
    const { get } = await hosted(setting({ 'CONTENT-SECURITY-POLICY': ["script-src 'self'", "script-src 'none'"] }))
    const { headers } = await get('/').expect(200)
    expect(headers[POLICY]).toMatch(/^script-src 'self' ('nonce-[^']+'), script-src \1$/)
  })

  test.for([
    ['of middleware', { middleware: [setting({ 'Content-Security-Policy': "script-src 'self'" })] }],
    [
      'of a rule',
      {
        rules: {
          headers: [{ source: '/', headers: [{ key: 'Content-Security-Policy', value: "script-src 'self'" }] }],
        },
      },
    ],
  ] as const)('is fitted as one %s is', async ([, more]) => {
    const { get } = await hosted([], more)
    expect((await get('/').expect(200)).headers[POLICY]).toMatch(/^script-src 'self' 'nonce-[^']+'$/)
  })

  test('has the hashes of a document that caches may share, unless it has a nonce of its own', async () => {
    const { get } = await hosted(setting({ 'Content-Security-Policy': COMMON }))
    const { headers } = await get('/shared').expect(200)
    expect([headers['cache-control'], headers[POLICY]]).toEqual([
      'public, max-age=60',
      expect.stringMatching(/;script-src 'self' 'sha256-[\w+/]{43}=';/),
    ])
    const own = await hosted(setting({ 'Content-Security-Policy': "script-src 'nonce-host' 'strict-dynamic'" }))
    const { headers: personal } = await own.get('/shared').expect(200)
    expect([personal['cache-control'], personal[POLICY]]).toEqual([
      'private, no-cache',
      expect.stringMatching(/^script-src 'nonce-host' 'strict-dynamic' 'nonce-[^']+'/),
    ])
  })

  test('is not in a 304: the browser has the nonce that its copy was sent with', async () => {
    const { get } = await hosted(
      setting({
        'Content-Security-Policy': COMMON,
        'Content-Security-Policy-Report-Only': COMMON,
        'Referrer-Policy': 'no-referrer',
      }),
    )
    for (const path of ['/', '/shared']) {
      const { headers } = await get(path).expect(200)
      const same = await get(path)
        .set('If-None-Match', headers['etag'] ?? '')
        .expect(304)
      expect(same.headers).not.toHaveProperty(POLICY)
      expect(same.headers).not.toHaveProperty(`${POLICY}-report-only`)
      expect(same.headers['referrer-policy']).toBe('same-origin')
    }
  })

  test('allows the style of a page without React', async () => {
    const { get } = await hosted(setting({ 'Content-Security-Policy': "default-src 'self'" }))
    const { headers } = await get('/%zz').set('Accept', 'text/html').expect(400)
    expect(headers[POLICY]).toMatch(/^default-src 'self'; style-src 'self' 'sha256-[^']+'$/)
  })

  test('and that of a handler or a file both count', async () => {
    const { get } = await hosted(setting({ 'Content-Security-Policy': COMMON }))
    expect((await get('/handler').expect(200)).headers[POLICY]).toBe(`${COMMON}, sandbox`)
    expect((await get('/files/page.html').expect(200)).headers[POLICY]).toMatch(/upgrade-insecure-requests, .*sandbox$/)
  })

  test('of a rule is sent beside that of a handler and of a file, which says more of scripts', async () => {
    const headers = [{ key: 'Content-Security-Policy', value: "default-src 'self'" }]
    const { get } = await hosted([], { rules: { headers: [{ source: '/:path*', headers }] } })
    for (const path of ['/handler', '/files/page.html']) {
      expect((await get(path).expect(200)).headers[POLICY]).toMatch(/^default-src 'self', .*sandbox$/)
    }
  })
})

describe('referrers', () => {
  test.for([
    ['no-referrer', 'same-origin'],
    ['NO-REFERRER', 'same-origin'],
    ['strict-origin, no-referrer', 'same-origin'],
    ['no-referrer, unknown', 'same-origin'],
    ['no-referrer, strict-origin', 'no-referrer, strict-origin'],
    ['same-origin', 'same-origin'],
    ['origin', 'origin'],
    ['unsafe-url', 'unsafe-url'],
  ] as const)('of a host that says %s are %s for documents', async ([set, sent]) => {
    const { get, logs } = await hosted(setting({ 'Referrer-Policy': set }))
    for (const path of ['/', '/late', '/shared', '/nothing']) {
      expect([path, (await get(path)).headers['referrer-policy']]).toEqual([path, sent])
    }
    expect(warnings(logs)).toHaveLength(set === sent ? 0 : 1)
    expect((await get('/files/page.html')).headers['referrer-policy']).toBe(set)
  })

  test('of a loader are as those of a host, and a header is sent once', async () => {
    const { get } = await hosted([])
    expect((await get('/strict').expect(200)).headers['referrer-policy']).toBe('same-origin')
    const { headers } = await get('/handler').expect(200)
    expect(headers['referrer-policy']).toBe('no-referrer')
    expect(headers['cross-origin-resource-policy']).toBe('cross-origin')
  })

  test('that are missing do not make a form one of another site', async () => {
    const { host, ran } = await hosted(setting({ 'Referrer-Policy': 'no-referrer' }))
    const send = (headers: Readonly<Record<string, string>>) =>
      request(host)
        .post(`/?_action=${actionId(ACTIONS, 'save')}`)
        .set({ Host: 'shop.test', Origin: 'null', ...headers })
        .type('form')
        .send('a=b')
    await send({ 'Sec-Fetch-Site': 'same-origin' }).expect(303)
    await send({}).expect(403)
    await send({ 'Sec-Fetch-Site': 'cross-site' }).expect(403)
    expect(ran).toEqual(['saved'])
  })
})

describe('headers of the host', () => {
  const STRICT = {
    'Strict-Transport-Security': 'max-age=63072000; includeSubDomains; preload',
    'Cross-Origin-Resource-Policy': 'same-site',
    'Cross-Origin-Opener-Policy': 'same-origin-allow-popups',
    'X-Content-Type-Options': 'nosniff',
    'Permissions-Policy': 'camera=()',
    Vary: 'Origin',
  }

  test.for(['/', '/late', '/handler', '/files/page.html', '/nothing', '/_m/assets/none.js', '/_m/assets/app-x.js'])(
    'stay as they are on %s, and are sent once',
    async (path) => {
      const folder = await makeTempDir('host-assets')
      onTestFinished(() => folder.remove())
      await writeFile(join(folder.path, 'app-x.js'), 'export {}')
      const { get } = await hosted(setting(STRICT), {
        assets: { manifest, folder: folder.path },
        environment: { ORIGIN: 'https://shop.test' },
      })
      const { headers } = await get(path)
      const { Vary, ...kept } = STRICT
      for (const [name, value] of Object.entries(kept)) {
        expect([name, headers[name.toLowerCase()]]).toEqual([name, value])
      }
      expect(headers['vary']).toContain(Vary)
    },
  )

  test('a session, whose cookie comes when headers are written, keeps answers out of shared caches', async () => {
    // As express-session does by `on-headers`.
    const session: RequestHandler = (req, res, next) => {
      Object.assign(req, { session: {} })
      const writeHead = res.writeHead.bind(res)
      const withCookie = (status: number): ExpressResponse => {
        res.setHeader('Set-Cookie', 'sid=1')
        return writeHead(status)
      }
      res.writeHead = withCookie as typeof writeHead
      next()
    }
    const { get } = await hosted(session)
    for (const path of ['/shared', '/handler']) {
      const { headers } = await get(path).expect(200)
      expect([headers['cache-control'], headers['set-cookie']]).toEqual(['private, no-store', ['sid=1']])
    }
    const { headers } = await get('/_m/assets/page.html').expect(200)
    expect(headers['cache-control']).toBe('private, max-age=31536000, immutable')
  })

  test.for(LATE_COOKIES)('so does a cookie of middleware that comes then %s', async ([, setCookie]) => {
    let hasCookie = true
    const library: RequestHandler = (_req, res, next) => {
      res.setHeader('CDN-Cache-Control', 'max-age=60')
      if (hasCookie) setCookie(res)
      else res.writeHead = res.writeHead.bind(res)
      next()
    }
    const { host, get } = await hosted(library)
    const { etag } = (await get('/_m/assets/page.html').expect(200)).headers
    const file = ['private, max-age=31536000, immutable', 'public, max-age=31536000, immutable'] as const
    for (const [path, withCookie, without] of [
      ['/shared', 'private, no-store', 'public, max-age=60'],
      ['/handler', 'private, no-store', 'public, max-age=60'],
      ['/shared-files/page.html', 'private, no-store', 'public, max-age=60'],
      ['/_m/assets/page.html', ...file],
    ] as const) {
      for (const ask of [get(path), request(host).head(path), get(path).set('If-None-Match', String(etag))]) {
        hasCookie = true
        const { headers } = await ask
        expect([headers['cache-control'], headers['set-cookie']]).toEqual([withCookie, ['sid=1']])
        expect(headers['cdn-cache-control']).toBeUndefined()
      }
      hasCookie = false
      const { headers } = await get(path)
      expect([headers['cache-control'], headers['cdn-cache-control']]).toEqual([without, 'max-age=60'])
    }
  })

  test('so does a cookie that is there before', async () => {
    const { get } = await hosted(setting({ 'Set-Cookie': 'sid=1' }))
    for (const path of ['/shared', '/handler', '/shared-files/page.html', '/_m/assets/page.html']) {
      expect((await get(path).expect(200)).headers['cache-control']).toMatch(/^private, /)
    }
  })

  test('so does one of a method that all responses of the host inherit', async () => {
    const { host, get } = await hosted([])
    const { writeHead } = host.response
    const withCookie = function (this: ExpressResponse, ...head: Parameters<typeof writeHead>): ExpressResponse {
      this.append('Set-Cookie', 'sid=1')
      return writeHead.apply(this, head)
    }
    host.response.writeHead = withCookie as typeof writeHead
    for (const path of ['/shared', '/handler', '/shared-files/page.html']) {
      const { headers } = await get(path).expect(200)
      expect([path, headers['cache-control'], headers['set-cookie']]).toEqual([path, 'private, no-store', ['sid=1']])
    }
  })

  test.for(['/late', '/handler'])('a compressor leaves %s alone, which it would hold back', async (path) => {
    const asked: unknown[] = []
    // As compression() does: it decides when headers are written.
    const compressor: RequestHandler = (req, res, next) => {
      const [write, writeHead] = [res.write.bind(res), res.writeHead.bind(res)]
      const decide = (status: number): ExpressResponse => {
        asked.push(req.headers['accept-encoding'])
        return writeHead(status)
      }
      Object.assign(res, { write, writeHead: decide })
      next()
    }
    const { get } = await hosted(compressor)
    const { headers } = await get(path).set('Accept-Encoding', 'gzip').expect(200)
    expect([asked, headers['content-encoding']]).toEqual([['identity'], 'gzip'])
  })

  test('that middleware adds to a list of pairs when they are written do not break those of the answer', async () => {
    // As `on-headers` did before 1.1.
    const pairs: RequestHandler = (_req, res, next) => {
      const writeHead = res.writeHead.bind(res)
      const withPairs = (status: number, headers: readonly [string, string][] = []): ExpressResponse => {
        for (const [name, value] of headers) res.setHeader(name, value)
        return writeHead(status)
      }
      res.writeHead = withPairs as unknown as typeof writeHead
      next()
    }
    const { get } = await hosted(pairs)
    const { headers } = await get('/').expect(200)
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
  })
})
