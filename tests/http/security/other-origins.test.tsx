/** Replays that need external rewrites, conditions on the host, or middleware that guards: A, C, G11 and I. See `README.md`. */
import type { RequestHandler } from 'express'
import { describe, expect, test } from 'vitest'
import type { LoaderArgs } from '../../../src/server/api/loader-types.ts'
import { connectRaw } from '../../support/raw-http.ts'
import { fallbacks, moduleOf, page } from '../../support/tiny-app.tsx'
import { fixtureServer } from './fixture-server.tsx'

/** A guard as authors write them for Express. */
const guard: RequestHandler = (req, res, next) => {
  if (!req.path.startsWith('/members')) return next()
  res.status(401).set('Cache-Control', 'no-store').send('members only')
}
const guardByOriginal: RequestHandler = (req, res, next) => {
  if (!req.originalUrl.startsWith('/staff')) return next()
  res.status(401).set('Cache-Control', 'no-store').send('staff only')
}

const site = fixtureServer((upstreamPort) => {
  const upstream = `http://127.0.0.1:${upstreamPort}`
  return {
    routes: {
      '/': { ...fallbacks('root'), page: page(() => <p>home</p>) },
      '/members/[[...rest]]': { page: page(() => <p>inside</p>) },
      '/staff/[[...rest]]': { page: page(() => <p>inside</p>) },
      '/fetched': {
        page: page(({ data }: { data: { texts: readonly string[] } }) => <p>{data.texts.join(' ')}</p>),
        loader: moduleOf({
          async loader({ signal }: LoaderArgs) {
            const bodies = ['one', 'two', Buffer.from([0xff]), Buffer.from([0xfe])]
            const answers = bodies.map((body) => fetch(`${upstream}/loader`, { method: 'POST', body, signal }))
            return { texts: await Promise.all(answers.map(async (answer) => (await answer).text())) }
          },
        }),
      },
    } as never,
    middleware: [guard, guardByOriginal],
    rules: {
      redirects: [
        { source: '/by-host', destination: '/here', permanent: false, has: [{ type: 'host', value: 'api.good.test' }] },
      ],
      rewrites: {
        beforeFiles: [
          {
            source: '/host-only',
            destination: `${upstream}/host-only`,
            has: [{ type: 'host', value: 'api.good.test' }],
          },
        ],
        afterFiles: [
          { source: '/members/out/:path*', destination: `${upstream}/secret/:path*` },
          { source: '/out/:path*', destination: `${upstream}/in/:path*` },
          { source: '/query', destination: `${upstream}/query?fixed=1` },
        ],
        fallback: [{ source: '/tenant/:h/:path*', destination: `http://:h.internal.test:${upstreamPort}/:path*` }],
      },
    },
  }
})

describe.for(['/members', '/staff'])('A7 A10 A16 a guard that is Express middleware, at %s', (area) => {
  const name = area.slice(1)
  const encoded = `/%${name.charCodeAt(0).toString(16)}${name.slice(1)}`
  const spellings = [
    `${area}`,
    `${area}/a`,
    `${encoded}`,
    `${encoded}/a`,
    `${encoded.replace('%6', '%256').replace('%7', '%257')}/a`,
    `/${name.slice(0, 3)}%${name.charCodeAt(3).toString(16).toUpperCase()}${name.slice(4)}/a`,
    `/${name}/%61`,
    `/${area}/a`,
    `/.${area}/a`,
    `/x/..${area}/a`,
    `/%2e${area}/a`,
    `\\${name}\\a`,
    `/%5c${name}/a`,
    `/%2f${name}/a`,
    `${area}%2fa`,
    `http://localhost${area}/a`,
    `http://localhost${encoded}/a`,
  ]
  test.for(spellings)('%s shows nothing inside', async (target) => {
    const targets = target.startsWith('http') ? [target] : [target, `/_m/data${target}`, `/_m/data${target}?_m=`]
    for (const one of targets) {
      const answer = await site.get(one)
      // Data of an untidy path says where the tidy one is: what a document says by 308.
      const leads = answer.status === 200 && answer.text.includes(`"redirect":{"to":"${area}/a"}`)
      expect([one, leads || answer.status]).toEqual([one, expect.toBeOneOf([true, 308, 400, 401, 404])])
      expect(answer.text).not.toContain('inside')
      expect(answer.text).not.toContain(`"route":"${area}`)
    }
  })
})

describe('A10 a guard that is middleware, before another origin', () => {
  const HANDSHAKE = {
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'Sec-WebSocket-Version': '13',
  }

  test.for([{}, HANDSHAKE])('is asked whatever the request would become: %j', async (headers) => {
    for (const target of ['/members/out/x', '/%6dembers/out/x']) {
      const answer = await site.get(target, headers)
      expect([answer.status, answer.text]).toEqual([401, 'members only'])
    }
    expect(site.upstream.take()).toEqual([])
  })

  test('lets through what it does not guard, and the answer of an origin that does not switch', async () => {
    const answer = await site.get('/out/x', HANDSHAKE)
    expect([answer.status, answer.text]).toEqual([200, 'upstream'])
    expect(site.upstream.take().map(({ url, headers }) => [url, headers.upgrade])).toEqual([['/in/x', 'websocket']])
  })
})

describe('A13 a rule for one host', () => {
  test.for(['notapi.good.test', 'api.good.test.evil.test', 'api.good.test:80.evil.test', 'xapi.good.test'])(
    'does not apply to %s',
    async (host) => {
      expect((await site.get('/by-host', {}, host)).status).toBeOneOf([404, 400])
      expect((await site.get('/host-only', {}, host)).status).toBeOneOf([404, 400])
      expect((await site.get('/by-host', { 'X-Forwarded-Host': 'api.good.test' }, host)).status).toBeOneOf([404, 400])
      expect(site.upstream.take()).toEqual([])
    },
  )

  test('applies to that host, in any case and with a port', async () => {
    for (const host of ['api.good.test', 'API.good.test', 'api.good.test:8080']) {
      expect((await site.get('/by-host', {}, host)).status).toBe(307)
      expect((await site.get('/host-only', {}, host)).status).toBe(200)
    }
    expect(site.upstream.take()).toHaveLength(3)
  })
})

test.for([
  '/tenant/evil.test%2f/x',
  '/tenant/evil.test%23/x',
  '/tenant/evil.test%3f/x',
  '/tenant/a@evil.test/x',
  '/tenant/a%40evil.test/x',
  '/tenant/evil.test:80/x',
  '/tenant/evil.test./x',
  '/tenant/127.0.0.1/x',
  '/tenant/127.0.0.1%2f/x',
  '/tenant/%5cevil.test/x',
  '/tenant/%2e%2e/x',
  '/tenant/a b/x',
  '/tenant/-/x',
  '/tenant/%C3%A4/x',
  '/tenant/[::1]/x',
  `/tenant/${'a'.repeat(64)}/x`,
])('C5 a request does not choose the host of a rewrite: %s', async (target) => {
  expect((await site.get(target)).status).toBeOneOf([400, 404])
  expect(site.upstream.take()).toEqual([])
})

test.for([
  '/out/http:%2f%2fevil.test',
  '/out/http://evil.test',
  '/out//evil.test',
  '/out/%2f%2fevil.test',
  '/out/@evil.test',
  '/out/%40evil.test',
  '/out/:80@evil.test',
  '/out/%5c%5cevil.test',
  '/out/%3f@evil.test',
  '/out/%23@evil.test',
  '/out/..%2f..%2fetc',
  '/out/../../etc',
  '/out/%2e%2e/%2e%2e/etc',
  '/out/a?x=http://evil.test#/../',
  '/query?fixed=2&url=//evil.test',
])('C9 a path sends an external rewrite to no other host and no other folder: %s', async (target) => {
  const answer = await site.get(target)
  const received = site.upstream.take()
  expect(received.length).toBeLessThanOrEqual(1)
  for (const { url, headers } of received) {
    expect(headers.host).toBe(`127.0.0.1:${site.upstream.port}`)
    expect(new URL(url, 'http://upstream.test').pathname).toMatch(/^\/(?:in(?:\/|$)|query$)/)
  }
  expect(answer.status).toBeOneOf([200, 308, 400, 404])
})

test('A2 what leaves for another origin carries nothing of the runtime, and nothing of the connection', async () => {
  const headers = {
    Cookie: 'a=1',
    'X-Millrace-Build': 'mine',
    Connection: 'keep-alive, X-Hop',
    'X-Hop': '1',
    'Proxy-Authorization': 'Basic abc',
    TE: 'trailers',
    'X-Forwarded-For': '6.6.6.6',
    Forwarded: 'for=6.6.6.6',
  }
  expect((await site.get('/out/a', headers)).status).toBe(200)
  expect((await site.get('/fetched', headers)).status).toBe(200)
  const received = site.upstream.take()
  expect(received).toHaveLength(5)
  const [rewritten, ...fetched] = received
  expect(JSON.stringify(rewritten?.headers)).not.toMatch(/x-hop|proxy-authorization|6\.6\.6\.6|"te"/)
  // A loader's own fetch brings along only what the loader gave it.
  expect(JSON.stringify(fetched.map((request) => request.headers))).not.toMatch(/x-millrace|cookie|6\.6\.6\.6/)
})

test('G11 fetches of one loader that differ only in their bodies are distinct', async () => {
  await site.get('/fetched')
  const bodies = site.upstream.take().map(({ body }) => body)
  expect(bodies.toSorted()).toEqual(['one', 'two', '\xfe', '\xff'].toSorted())
})

const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n'

describe('I1 a body with a request inside reaches the upstream as a body', () => {
  test.for(['DELETE', 'OPTIONS', 'GET', 'HEAD', 'POST', 'PATCH', 'PROPFIND'])('of %s', async (method) => {
    const chunk = `${SMUGGLED.length.toString(16)}\r\n${SMUGGLED}\r\n0\r\n\r\n`
    const framings = [
      `Transfer-Encoding: chunked\r\n\r\n${chunk}`,
      `Content-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`,
    ]
    for (const framing of framings) {
      const head = `${method} /out/x HTTP/1.1\r\nHost: localhost\r\n`
      const answer = await site.send(head + framing, { head: method === 'HEAD' })
      expect(answer.status).toBe(200)
      const received = site.upstream.take()
      expect(received.map(({ method, url }) => `${method} ${url}`)).toEqual([`${method} /in/x`])
      expect(received[0]?.body).toBe(SMUGGLED)
    }
  })

  test('and a chunked one that is no framing at all is refused', async () => {
    for (const coding of ['gzip, chunked', 'identity', 'chunked, identity', 'xchunked', 'chunked;a=b', 'gzip']) {
      const head = `POST /out/x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: ${coding}\r\n\r\n0\r\n\r\n`
      site.permit(501)
      expect((await site.send(head)).status).toBeOneOf([400, 501])
      expect(site.upstream.take()).toEqual([])
    }
  })
})

test('I4 a length that stands behind more headers than are read makes no second request', async () => {
  const filler = Array.from({ length: 2_001 }, (_, at) => `a${at}: 1\r\n`).join('')
  for (const framing of [`Content-Length: ${SMUGGLED.length}\r\n`, 'Transfer-Encoding: chunked\r\n']) {
    using connection = await connectRaw(site.port)
    await connection.send(`POST /out/x HTTP/1.1\r\nHost: localhost\r\n${filler}${framing}\r\n${SMUGGLED}`)
    const answer = await connection.response()
    expect(answer.status).toBeOneOf([200, 400, 431])
    connection.socket.end()
    await connection.end()
    const received = site.upstream.take()
    expect(received.filter(({ url }) => url !== '/in/x')).toEqual([])
    expect(received.map(({ body }) => body)).not.toContain(SMUGGLED.slice(0, 4))
  }
})
