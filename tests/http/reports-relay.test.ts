import type { RequestHandler } from 'express'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { CLIENT_LIMIT, CREDITS_A_POINT } from '../../src/server/reports/relay/client-allowance.ts'
import { derivedTunnelPath } from '../../src/server/config/tunnel-path.ts'
import { createRateLimits, LIMITS } from '../../src/server/stores/rate-limits.ts'
import { createSqliteStore } from '../../src/server/stores/sqlite-store.ts'
import { openRuntimeDatabase } from '../../src/server/stores/store-databases.ts'
import { connectRaw, getRequest, requestRaw } from '../support/raw-http.ts'
import { CRASH, newEventId, postRequest, startReportServer, type ReportItem } from './report-setup.ts'

const REDIRECT: ReportItem = ['event', { exception: { values: [{ type: 'RedirectSignal', value: 'Redirect to /x' }] } }]
const MISSING: ReportItem = ['transaction', { type: 'transaction', contexts: { trace: { status: 'not_found' } } }]

describe('an envelope', () => {
  test('is answered with its event id as by the service, and reaches it', async () => {
    const { sink, post, envelope, app } = await startReportServer()
    const id = newEventId()
    const answer = await post(envelope([CRASH], { event_id: id }))
    expect(answer.status).toBe(200)
    expect(JSON.parse(answer.text)).toEqual({ id })
    expect(answer.header('cache-control')).toBe('no-store')
    expect(answer.header('x-sentry-rate-limits')).toBeUndefined()
    await sink.until(({ requests }) => requests.length === 1)
    const [request] = sink.requests
    expect(request?.url).toBe('/api/42/envelope/')
    expect(request?.eventId).toBe(id)
    expect(request?.envelope?.header['dsn']).toBe(app.reports.dsn)
    expect(request?.headers['x-sentry-auth']).toContain('sentry_key=public')
  })

  test('is answered at once where the service hangs', async () => {
    const { sink, report } = await startReportServer()
    sink.answer({ after: new Promise(() => undefined) })
    for (let count = 0; count < 20; count += 1) expect((await report()).status).toBe(200)
  })

  test('is taken from a browser of the same site, and without any origin', async () => {
    const { report, port } = await startReportServer()
    const own = { Host: `127.0.0.1:${port}`, Origin: `http://127.0.0.1:${port}`, 'Sec-Fetch-Site': 'same-origin' }
    expect((await report(undefined, own)).status).toBe(200)
    expect((await report(undefined, { 'Sec-Fetch-Site': 'none' })).status).toBe(200)
  })

  test('goes to the inbox where no DSN is set, and nowhere else', async () => {
    const { report, sink, app } = await startReportServer({ SENTRY_DSN: '' })
    expect(app.reports.dsn).toBe('https://inbox@inbox.invalid/1')
    expect(app.reports.tunnelPath).toBe(derivedTunnelPath(''))
    const answer = await report()
    expect(answer.status).toBe(200)
    expect(sink.requests).toEqual([])
  })
})

describe('what goes along to the service', () => {
  test('is what it needs of the browser, and never a cookie or a credential', async () => {
    const { sink, report } = await startReportServer()
    await report(undefined, {
      'User-Agent': 'Browser/1',
      Origin: 'http://localhost',
      Referer: 'http://localhost/mills/7?token=secret-canary',
      'Sec-CH-UA': '"Browser";v="1"',
      'Sec-CH-UA-Platform-Version': '"1"',
      'Content-Type': 'text/plain;charset=UTF-8',
      Cookie: 'session=secret-canary',
      Authorization: 'Bearer secret-canary',
      'Proxy-Authorization': 'Basic secret-canary',
      'X-Api-Key': 'secret-canary',
      'X-Sentry-Auth': 'Sentry sentry_key=other',
      'X-Forwarded-For': '203.0.113.9',
      'X-Sentry-Forwarded-For': '203.0.113.9',
      'X-Real-IP': '203.0.113.9',
      'Accept-Language': 'de',
    })
    await sink.until(({ requests }) => requests.length === 1)
    const headers = sink.requests[0]?.headers ?? {}
    expect(headers).toMatchObject({
      'user-agent': 'Browser/1',
      origin: 'http://localhost',
      referer: 'http://localhost/mills/7',
      'sec-ch-ua': '"Browser";v="1"',
      'sec-ch-ua-platform-version': '"1"',
      'content-type': 'application/x-sentry-envelope',
      'x-sentry-forwarded-for': '127.0.0.1',
      host: `127.0.0.1:${sink.port}`,
    })
    const added = ['connection', 'content-length', 'content-type', 'host', 'x-sentry-auth', 'x-sentry-forwarded-for']
    const passedOn = ['origin', 'referer', 'sec-ch-ua', 'sec-ch-ua-platform-version', 'user-agent']
    expect(Object.keys(headers).toSorted()).toEqual([...added, ...passedOn].toSorted())
    expect(JSON.stringify(headers)).not.toMatch(/secret-canary|203\.0\.113|sentry_key=other/)
  })

  test('is no cookie and no credential of an event either, whatever SDK has put it there', async () => {
    const { sink, report } = await startReportServer()
    const headers = { Cookie: 'a=secret-canary', authorization: 'Bearer secret-canary', Accept: 'text/html' }
    const attributes = { 'http.request.header.cookie.session': ['secret-canary'], 'http.route': '/mills/[id]' }
    await report([
      ['event', { ...CRASH[1], request: { url: '/mills/7', cookies: { a: 'secret-canary' }, headers } }],
      [
        'transaction',
        {
          type: 'transaction',
          request: { headers: [...Object.entries(headers), ['Proxy-Authorization', 'Basic secret-canary']] },
          contexts: {
            trace: { data: attributes },
            response: { status_code: 200, headers: { 'set-cookie': 'a=secret-canary' }, cookies: 'secret-canary' },
          },
          spans: [{ description: 'GET /mills', data: { 'http.response.header.set_cookie': 'secret-canary' } }],
        },
      ],
      ['span', { items: [{ name: 'GET /mills', attributes }] }, { item_count: 1 }],
      ['span', { description: 'GET /mills', data: { 'http.request.header.authorization': 'secret-canary' } }],
    ])
    await sink.until(({ requests }) => requests.length === 1)
    const items = sink.requests[0]?.envelope?.items.map(({ payload }) => JSON.parse(payload.toString()) as unknown)
    expect(JSON.stringify(items)).not.toContain('secret-canary')
    expect(items).toEqual([
      { ...CRASH[1], request: { url: '/mills/7', headers: { Accept: 'text/html' } } },
      {
        type: 'transaction',
        request: { headers: [['Accept', 'text/html']] },
        contexts: { trace: { data: { 'http.route': '/mills/[id]' } }, response: { status_code: 200, headers: {} } },
        spans: [{ description: 'GET /mills', data: {} }],
      },
      { items: [{ name: 'GET /mills', attributes: { 'http.route': '/mills/[id]' } }] },
      { description: 'GET /mills', data: {} },
    ])
  })

  test('is no query in a message of the router either, as former builds have sent it', async () => {
    const { sink, report } = await startReportServer()
    const event = (value: string) => ({ event_id: 'e', exception: { values: [{ type: 'Error', value }] } })
    const theirs = event('Failed to fetch /mills?name=their-own')
    await report([
      ['event', event('Failed to load route data: /mills?token=secret-canary')],
      ['event', theirs],
    ])
    await sink.until(({ requests }) => requests.length === 1)
    const items = sink.requests[0]?.envelope?.items.map(({ payload }) => JSON.parse(payload.toString()) as unknown)
    expect(items).toEqual([event('Failed to load route data: /mills'), theirs])
  })

  test('names the client that trusted proxies name', async () => {
    const { sink, report } = await startReportServer({ TRUST_PROXY: '127.0.0.1' })
    await report(undefined, { 'X-Forwarded-For': '198.51.100.1, 203.0.113.9' })
    await sink.until(({ requests }) => requests.length === 1)
    expect(sink.requests[0]?.headers['x-sentry-forwarded-for']).toBe('203.0.113.9')
  })
})

describe('what is never reported is answered and left out', () => {
  test('as a whole envelope', async () => {
    const { sink, report } = await startReportServer()
    for (const item of [REDIRECT, MISSING]) expect((await report([item])).status).toBe(200)
    await report()
    await sink.until(({ requests }) => requests.length === 1)
    expect(sink.requests[0]?.envelope?.items.map(({ type }) => type)).toEqual(['event'])
  })

  test('as a part of one', async () => {
    const { sink, report } = await startReportServer()
    await report([REDIRECT, ['session', { status: 'ok' }]])
    await sink.until(({ requests }) => requests.length === 1)
    expect(sink.requests[0]?.envelope?.items.map(({ type }) => type)).toEqual(['session'])
  })
})

describe('what is refused never reaches the service', () => {
  test.for([
    ['an envelope of another host', { dsn: 'http://public@evil.test/42' }, 403],
    ['without a DSN', { dsn: undefined }, 400],
    ['whose DSN is no text', { dsn: 42 }, 400],
  ] as const)('%s', async ([, header, status]) => {
    const { post, envelope, sink, report } = await startReportServer()
    expect((await post(envelope(undefined, header))).status).toBe(status)
    await report()
    await sink.until(({ requests }) => requests.length > 0)
    expect(sink.requests).toHaveLength(1)
  })

  test.for([
    ['a page of another site', { 'Sec-Fetch-Site': 'cross-site' }],
    ['a sandboxed frame', { Origin: 'null' }],
  ] as const)('%s', async ([, headers]) => {
    const { report } = await startReportServer()
    const answer = await report(undefined, headers)
    expect(answer.status).toBe(403)
    expect(answer.header('access-control-allow-origin')).toBeUndefined()
  })

  test.for(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'])('the method %s', async (method) => {
    const { port, path } = await startReportServer()
    const bytes = getRequest(path).replace('GET', method)
    const answer = await requestRaw(port, bytes, { head: method === 'HEAD' })
    expect(answer.status).toBe(405)
    expect(answer.header('allow')).toBe('POST')
  })
})

test('the path can be chosen, and the other one is then no more', async () => {
  const { report, path, port, sink } = await startReportServer({ REPORT_TUNNEL_PATH: '/left/here' })
  expect(path).toBe('/left/here')
  expect((await report()).status).toBe(200)
  const derived = derivedTunnelPath(sink.dsn)
  expect((await requestRaw(port, getRequest(derived))).status).toBe(404)
})

test('the relay stands before the middleware of the application, which might eat the body', async () => {
  const eaten: string[] = []
  const eater: RequestHandler = (req, res) => {
    eaten.push(req.url)
    req.resume().once('end', () => res.status(418).end())
  }
  const { report, port, sink } = await startReportServer({}, [eater])
  expect((await report([CRASH])).status).toBe(200)
  await sink.until(({ requests }) => requests.length === 1)
  expect((await requestRaw(port, getRequest('/'))).status).toBe(418)
  expect(eaten).toEqual(['/'])
})

describe('one client that sends too much', () => {
  afterEach(() => void vi.useRealTimers())

  /** Takes points as if so many envelopes had come. */
  async function spend(dataDir: string, address: string, points: number): Promise<void> {
    const database = openRuntimeDatabase(dataDir)
    const limits = createRateLimits(createSqliteStore(database, LIMITS))
    for (let count = 0; count < points; count += 1) await limits.take(`report ${address}`, CLIENT_LIMIT, Date.now())
    database.dispose()
  }

  test('is told when to come again, in both languages, while others go on', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { report, dataDir } = await startReportServer({ TRUST_PROXY: '127.0.0.1' })
    const from = (address: string) => report([['session', {}]], { 'X-Forwarded-For': address })
    expect((await from('203.0.113.9')).status).toBe(200)
    await spend(dataDir, '203.0.113.9', CLIENT_LIMIT.points - 1)
    for (let left = CREDITS_A_POINT - 1; left > 0; left -= 1) expect((await from('203.0.113.9')).status).toBe(200)
    const refused = await from('203.0.113.9')
    expect(refused.status).toBe(429)
    expect(refused.header('retry-after')).toBe('1')
    expect(refused.header('x-sentry-rate-limits')).toBe('1::key')
    expect((await from('203.0.113.10')).status).toBe(200)
    vi.setSystemTime(Date.now() + 1_000)
    expect((await from('203.0.113.9')).status).toBe(200)
  })

  test('of bytes is stopped as well, so that it cannot push out what others have sent', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { post, report, envelope, dataDir } = await startReportServer()
    const large = envelope([['attachment', Buffer.alloc(4_000_000)]])
    await spend(dataDir, '127.0.0.1', CLIENT_LIMIT.points - 1)
    expect((await post(large)).status).toBe(200)
    expect((await post(large)).status).toBe(429)
    vi.setSystemTime(Date.now() + 1_000)
    expect((await report()).status).toBe(200)
  })
})

test('2,000 envelopes of many clients at once are all kept, and arrive once', { timeout: 60_000 }, async () => {
  const { port, path, envelope, sink } = await startReportServer({ TRUST_PROXY: '127.0.0.1' })
  const ids = Array.from({ length: 2_000 }, newEventId)
  const statuses = await Promise.all(
    Array.from({ length: 20 }, async (_, client) => {
      using connection = await connectRaw(port)
      const headers = { 'X-Forwarded-For': `198.51.100.${client}` }
      const own = ids.slice(client * 100, (client + 1) * 100)
      const requests = own.map((id) => postRequest(path, envelope([CRASH], { event_id: id }), headers))
      await connection.send(Buffer.concat(requests))
      const answered: number[] = []
      while (answered.length < own.length) answered.push((await connection.response()).status)
      return answered
    }),
  )
  expect(new Set(statuses.flat())).toEqual(new Set([200]))
  await sink.until(({ requests }) => requests.length >= ids.length)
  expect(sink.requests.map(({ eventId }) => eventId).toSorted()).toEqual(ids.toSorted())
})

describe('limits of the service', () => {
  test('are passed on with every answer, whatever its status', async () => {
    const { sink, report, post } = await startReportServer()
    sink.answer({
      status: 429,
      headers: {
        'retry-after': '60',
        'x-sentry-rate-limits': '60:error:organization, 120:transaction;span:key:quota_exceeded',
      },
    })
    await report()
    await sink.until(({ requests }) => requests.length === 1)
    await vi.waitFor(async () => {
      const kept = await report([['session', {}]])
      expect(kept.header('x-sentry-rate-limits')).toMatch(
        /^(?:60|59):error:organization, (?:120|119):transaction;span:key:quota_exceeded$/,
      )
    })
    for (const answer of [await report(), await post('hello')]) {
      expect([200, 400]).toContain(answer.status)
      expect(answer.header('x-sentry-rate-limits')).toContain(':error:')
      expect(Number(answer.header('retry-after'))).toBeGreaterThan(50)
    }
  })
})

describe('a store that cannot be written', () => {
  test('is answered with 503 and a time, and pages go on', async () => {
    const { report, port, dataDir, app, logs } = await startReportServer()
    app.reports.dispose()
    const answer = await report()
    expect(answer.status).toBe(503)
    expect(answer.header('retry-after')).toBe('30')
    expect(answer.header('x-sentry-rate-limits')).toBe('30::key')
    expect(answer.text).not.toContain(dataDir)
    await report()
    expect(logs.filter(({ msg }) => msg === 'reports cannot be kept')).toHaveLength(1)
    expect((await requestRaw(port, getRequest('/'))).status).toBe(200)
  })
})

test('neither the log nor an answer repeats what was sent', async () => {
  const { post, envelope, logs } = await startReportServer()
  const answers = [
    await post('{"dsn":"https://secret-canary@evil.test/1"}\n'),
    await post('{"secret-canary'),
    await post(envelope([['event', Buffer.from('secret-canary')]]), { Cookie: 'secret-canary' }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([403, 400, 200])
  expect(JSON.stringify([answers.map(({ text }) => text), logs])).not.toContain('secret-canary')
})
