import { Suspense, use } from 'react'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { forbidden, notFound, redirect, unauthorized } from '../../src/shared/control-flow.ts'
import { parseTraceHeader } from '../../src/shared/reports/trace-header.ts'
import { fallbacks, moduleOf, page } from '../support/tiny-app.tsx'
import { failingServer } from './failing-server.ts'

const CALLER = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' }

function loaderThat(throws: () => unknown) {
  return { page: page(() => 'never'), loader: moduleOf({ loader: throws as never }) }
}

const crash = (): never => {
  throw new Error('the mill has stopped', { cause: new TypeError('no water') })
}

describe('a failure of a loader', () => {
  test('is reported once, with digest, route, request and release, and nothing that may be secret', async () => {
    const { app, logs, reported } = await failingServer({ routes: { '/mills/[id]': loaderThat(crash) } as never })
    await request(app).get('/mills/7?token=hidden').set('Cookie', 'session=hidden').expect(500)
    const events = await reported('event')
    expect(events).toHaveLength(1)
    const line = logs.find(({ msg }) => msg === 'uncaught failure')
    expect(events[0]).toMatchObject({
      level: 'error',
      platform: 'node',
      release: 'r1',
      environment: 'production',
      transaction: 'GET /mills/[id]',
      tags: { digest: line?.['digest'], request_id: line?.['requestId'], place: 'loader', route: '/mills/[id]' },
      exception: { values: [{ value: 'no water' }, { value: 'the mill has stopped', mechanism: { handled: false } }] },
    })
    expect(JSON.stringify(events)).not.toMatch(/hidden|127\.0\.0\.1|mills\/7/)
  })

  test('is reported in the trace that the document hands to the page', async () => {
    const routes = { '/': { ...loaderThat(crash), ...fallbacks('root') } } as never
    const { app, reported } = await failingServer({ routes })
    const { headers } = await request(app).get('/').expect(500)
    const handed = /sentry-trace;desc="([^"]+)"/.exec(headers['server-timing'] ?? '')?.[1]
    const [event] = await reported('event')
    expect(event).toMatchObject({ contexts: { trace: { trace_id: parseTraceHeader(handed)?.traceId } } })
  })

  test('of a page asked for by the client router has the same name', async () => {
    const { app, reported } = await failingServer({ routes: { '/mills/[id]': loaderThat(crash) } as never })
    await request(app).get('/_m/data/mills/7').set('X-Millrace-Build', 'development').expect(500)
    expect(await reported('event')).toMatchObject([{ tags: { route: '/mills/[id]' } }])
  })

  test('is reported in the trace of the page that asks for it', async () => {
    const { app, reported } = await failingServer({ routes: { '/': loaderThat(crash) } as never })
    await request(app).get('/').set('sentry-trace', `${CALLER.traceId}-${CALLER.spanId}`).expect(500)
    const [event] = await reported('event')
    expect(event).toMatchObject({ contexts: { trace: { trace_id: CALLER.traceId, parent_span_id: CALLER.spanId } } })
  })
})

describe('failures elsewhere are reported once each', () => {
  test('of a component, however often it is rendered on the way to its fallback', async () => {
    const routes = { '/': { page: page(crash), ...fallbacks('root') } } as never
    const { app, reported } = await failingServer({ routes })
    await request(app).get('/').expect(500)
    expect(await reported('event')).toMatchObject([{ tags: { place: 'render', route: '/' } }])
  })

  test('behind the shell', async () => {
    const late = (): Promise<never> => new Promise((_, reject) => setImmediate(() => reject(new Error('late'))))
    const Hole = ({ value }: { value: Promise<string> }) => use(value)
    const Page = ({ data }: { data: { value: Promise<string> } }) => (
      <Suspense fallback="wait">
        <Hole value={data.value} />
      </Suspense>
    )
    const routes = { '/': { page: page(Page), loader: moduleOf({ loader: () => ({ value: late() }) }) } } as never
    const { app, reported } = await failingServer({ routes })
    await request(app).get('/').expect(200)
    const events = await reported('event')
    expect(events).toMatchObject([{ exception: { values: [{ value: 'late' }] } }])
  })

  test('of a middleware and of a resource route', async () => {
    const { app, reported } = await failingServer({
      routes: { '/feed': { handler: moduleOf({ GET: crash }) } } as never,
      middleware: [(req, _res, next) => (req.path === '/middle' ? next(new Error('in between')) : next())],
    })
    await request(app).get('/middle').expect(500)
    await request(app).get('/feed').expect(500)
    const places = (await reported('event')).map(({ tags }) => (tags as { place: string }).place)
    expect(places).toEqual(['server', 'handler'])
  })

  test('that nobody has caught', async () => {
    const { app, reported } = await failingServer({ routes: { '/': { page: page(() => 'home') } } as never })
    await app.reporter?.fatal(new Error('out of nowhere'))
    expect(await reported('event')).toMatchObject([
      { level: 'fatal', exception: { values: [{ value: 'out of nowhere' }] } },
    ])
  })

  test('thrown as a symbol, which has no text until it is asked for one', async () => {
    const routes = { '/': loaderThat(() => Promise.reject(Symbol('stuck') as never)) } as never
    const { app, logs, reported } = await failingServer({ routes })
    await request(app).get('/').expect(500)
    const digest = logs.find(({ msg }) => msg === 'uncaught failure')?.['digest']
    expect(await reported('event')).toMatchObject([{ tags: { digest } }])
    expect(logs.some(({ msg }) => msg === 'a failure could not be reported')).toBe(false)
  })

  test('thrown as what is no error, without what that holds', async () => {
    const secret = (): never => {
      // oxlint-disable-next-line no-throw-literal, only-throw-error -- what some libraries do
      throw { body: 'hidden' }
    }
    const { app, reported } = await failingServer({ routes: { '/': loaderThat(secret) } as never })
    await request(app).get('/').expect(500)
    const events = await reported('event')
    expect(events).toHaveLength(1)
    expect(JSON.stringify(events)).not.toContain('hidden')
  })
})

describe('what is no failure', () => {
  const routes = {
    '/': { page: page(() => 'home'), ...fallbacks('root') },
    '/moved': loaderThat(() => redirect('/')),
    '/missing': loaderThat(() => notFound()),
    '/forbidden': loaderThat(() => forbidden()),
    '/unauthorized': loaderThat(() => unauthorized()),
    '/gone': { page: page(() => notFound()) },
  } as never

  test('reaches the service neither as an error nor as a transaction', async () => {
    const { app, reported } = await failingServer({ routes }, { SENTRY_TRACES_SAMPLE_RATE: '1' })
    for (const path of [
      '/moved',
      '/missing',
      '/forbidden',
      '/unauthorized',
      '/gone',
      '/nowhere',
      '/healthz',
      '/_m/build.json',
    ]) {
      await request(app).get(path)
      // A page that is not found by its own component is rendered from data that were there.
      if (path !== '/gone') await request(app).get(`/_m/data${path}`).set('X-Millrace-Build', 'development')
    }
    await request(app).get('/').set('Sec-Purpose', 'prefetch').expect(200)
    await request(app).get('/').expect(200)
    expect(await reported('event')).toEqual([])
    expect((await reported('transaction')).map(({ transaction }) => transaction)).toEqual(['GET /'])
  })
})

describe('a trace', () => {
  const routes = {
    '/mills/[id]': { page: page(() => 'mill'), loader: moduleOf({ loader: () => ({ name: 'Upper' }) }) },
    '/shared': {
      page: page(() => 'shared'),
      loader: moduleOf({
        loader: ({ context }: never) =>
          void (context as { headers: Headers }).headers.set('Cache-Control', 'public, max-age=60'),
      }),
    },
  } as never

  test('of a sampled request has its route as the name, and loader and render as spans', async () => {
    const { app, reported } = await failingServer({ routes }, { SENTRY_TRACES_SAMPLE_RATE: '1' })
    const { headers } = await request(app).get('/mills/7').expect(200)
    const [transaction] = await reported('transaction')
    expect(transaction).toMatchObject({
      transaction: 'GET /mills/[id]',
      transaction_info: { source: 'route' },
      contexts: { trace: { op: 'http.server', status: 'ok' } },
      spans: [
        { op: 'loader', description: '/mills/[id]#page' },
        { op: 'render', description: 'whole' },
      ],
    })
    const handed = parseTraceHeader(/sentry-trace;desc="([^"]+)"/.exec(headers['server-timing'] ?? '')?.[1])
    expect(handed?.sampled).toBe(true)
    expect(transaction).toMatchObject({ contexts: { trace: { trace_id: handed?.traceId, span_id: handed?.spanId } } })
    expect(headers['server-timing']).toContain('baggage;desc="sentry-trace_id=')
  })

  test('that the page has decided on is continued by the server', async () => {
    const { app, reported } = await failingServer({ routes }, { SENTRY_TRACES_SAMPLE_RATE: '0.000001' })
    const trace = `${CALLER.traceId}-${CALLER.spanId}`
    const get = (path: string, decision: string) =>
      request(app)
        .get(path)
        .set('sentry-trace', trace + decision)
        .set('Sec-Fetch-Site', 'same-origin')
    await get('/mills/1', '-1').set('baggage', 'a=b,sentry-release=r1')
    await get('/mills/2', '-0')
    const transactions = await reported('transaction')
    expect(transactions).toHaveLength(1)
    expect(transactions[0]).toMatchObject({
      contexts: { trace: { trace_id: CALLER.traceId, parent_span_id: CALLER.spanId } },
    })
  })

  test.for([
    ['without a word about where it is from', {}],
    ['from another site', { 'Sec-Fetch-Site': 'cross-site' }],
    ['from another host of this site', { 'Sec-Fetch-Site': 'same-site' }],
    ['from the address bar', { 'Sec-Fetch-Site': 'none' }],
  ] as const)('cannot be forced by a request %s', async ([, headers]) => {
    const { app, reported } = await failingServer({ routes }, { SENTRY_TRACES_SAMPLE_RATE: '0.000001' })
    const trace = `${CALLER.traceId}-${CALLER.spanId}-1`
    const asked = { 'sentry-trace': trace, baggage: 'sentry-sampled=true,sentry-sample_rate=1', ...headers }
    await request(app).get('/mills/1').set(asked).expect(200)
    expect(await reported('transaction')).toEqual([])
  })

  test('cannot be forced by one client more often than by a visitor who clicks', async () => {
    const { app, reported } = await failingServer({ routes }, { SENTRY_TRACES_SAMPLE_RATE: '0.000001' })
    const trace = `${CALLER.traceId}-${CALLER.spanId}-1`
    const asked = { 'sentry-trace': trace, 'Sec-Fetch-Site': 'same-origin' }
    await Promise.all(Array.from({ length: 35 }, () => request(app).get('/mills/1').set(asked).expect(200)))
    const { length } = await reported('transaction')
    expect(length).toBeGreaterThanOrEqual(20)
    expect(length).toBeLessThan(35)
  })

  test('cannot be forced upon a server that does not trace', async () => {
    const { app, reported } = await failingServer({ routes })
    await request(app).get('/mills/1').set('sentry-trace', `${CALLER.traceId}-${CALLER.spanId}-1`)
    expect(await reported('transaction')).toEqual([])
  })

  test('is never handed out with an answer that others may get', async () => {
    const { app } = await failingServer({ routes }, { SENTRY_TRACES_SAMPLE_RATE: '1' })
    const { headers } = await request(app).get('/shared').expect(200)
    expect(headers['cache-control']).toContain('public')
    expect(headers['server-timing']).not.toContain('sentry-trace')
  })

  test('comes anew with an answer that says nothing has changed', async () => {
    const { app } = await failingServer({ routes })
    const first = await request(app).get('/mills/7').expect(200)
    const second = await request(app)
      .get('/mills/7')
      .set('If-None-Match', first.headers['etag'] ?? '')
      .expect(304)
    expect(second.headers['server-timing']).toMatch(
      /, shell;dur=[\d.]+, sentry-trace;desc="[0-9a-f]{32}-[0-9a-f]{16}"$/,
    )
    expect(second.headers['server-timing']).toMatch(/^loader;desc=/)
    const traceOf = (answer: typeof first) =>
      /sentry-trace;desc="[^"]+"/.exec(answer.headers['server-timing'] ?? '')?.[0]
    expect(traceOf(first)).not.toBe(traceOf(second))
  })
})

test('a failing report keeps no page from its visitor', async () => {
  const { app, sink, logs } = await failingServer({ routes: { '/': loaderThat(crash) } as never })
  app.reports.dispose()
  await sink.close()
  await request(app).get('/').expect(500)
  await app.reporter?.flush()
  expect(logs.map(({ msg }) => msg)).toContain('a report of this server could not be kept')
})
