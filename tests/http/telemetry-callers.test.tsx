import { createServer } from 'node:http'
import { context, propagation, SpanKind, trace } from '@opentelemetry/api'
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import type { LoaderArgs } from '../../src/server/index.ts'
import { followApps, listening, named, otherService, treeOf } from '../support/followed-apps.ts'
import { moduleOf, page, tinyApp, type TinyAppOptions } from '../support/tiny-app.tsx'

const CALLER = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const CALLER_TRACE = '0af7651916cd43dd8448eb211c80319c'

const apps = followApps()
const { followed, told } = apps

const routes = (table: object) => table as TinyAppOptions['routes']

describe('what a request fetches', () => {
  test('is a span inside of what fetches it, and continues the trace, without path or query', async () => {
    const { origin, seen } = await otherService()
    const ask = async () => Response.json(await (await fetch(`${origin}/secret?token=hidden`)).text())
    const { app } = await followed({ routes: routes({ '/api': { handler: moduleOf({ GET: ask }) } }) })
    await request(app).get('/api').expect(200)
    const spans = await told()
    expect(treeOf(spans)).toEqual(['GET /api', '  GET'])
    const span = named(spans, 'GET')
    expect(span).toMatchObject({ kind: 3, status: 0 })
    expect(span.attributes).toEqual({
      'http.request.method': 'GET',
      'http.response.status_code': 200,
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(origin).port),
      'url.full': origin,
    })
    expect(seen[0]).toMatchObject({ traceparent: `00-${span.traceId}-${span.spanId}-01` })
    expect(apps.collector.text()).not.toMatch(/secret|hidden/)
  })

  test('has failed where the service fails or is gone', async () => {
    const { origin } = await otherService()
    const ask = async () => {
      await fetch(`${origin}/busy`)
      await fetch(`${origin}/gone`).catch(() => undefined)
      return new Response('asked')
    }
    const { app } = await followed({ routes: routes({ '/api': { handler: moduleOf({ GET: ask }) } }) })
    await request(app).get('/api').expect(200)
    const fetched = (await told()).filter(({ kind }) => kind === 3)
    expect(fetched).toMatchObject([
      { status: 2, attributes: { 'error.type': '503' } },
      { status: 2, attributes: { 'error.type': expect.stringContaining('Error') } },
    ])
    expect(named(apps.collector.spans, 'GET /api').status).toBe(0)
  })

  test('is left alone where an instrumentation of fetch has its own span', async () => {
    const { origin, seen } = await otherService()
    const ask = async () => new Response(await (await fetch(origin, { headers: { traceparent: CALLER } })).text())
    const { app } = await followed({ routes: routes({ '/api': { handler: moduleOf({ GET: ask }) } }) })
    await request(app).get('/api').expect(200)
    expect(treeOf(await told())).toEqual(['GET /api'])
    expect(seen[0]).toMatchObject({ traceparent: CALLER })
  })

  test('after the visitor has left is inside of the request as well', async () => {
    const { origin } = await otherService()
    const done = Promise.withResolvers<void>()
    const leaving = new AbortController()
    const work = () =>
      fetch(origin)
        .then((answer) => answer.text())
        .then(() => done.resolve())
    const ask = ({ context: own, signal }: LoaderArgs) => {
      own.after(work)
      setImmediate(() => leaving.abort())
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('gone'))))
    }
    const { app } = await followed({ routes: routes({ '/api': { handler: moduleOf({ GET: ask }) } }) })
    await expect(fetch(`${await listening(app)}/api`, { signal: leaving.signal })).rejects.toThrow('aborted')
    await done.promise
    expect(treeOf(await told())).toEqual(['GET /api', '  GET'])
  })
})

describe('the trace of a caller', () => {
  const table = routes({ '/': { page: page(() => 'home') } })

  test('is continued behind a trusted proxy', async () => {
    const { app } = await followed({ routes: table, environment: { TRUST_PROXY: '127.0.0.1,::1' } })
    await request(app).get('/').set('traceparent', CALLER).expect(200)
    expect(named(await told(), 'GET /')).toMatchObject({
      traceId: CALLER_TRACE,
      parentSpanId: 'b7ad6b7169203331',
      links: [],
    })
  })

  test('brings no baggage along, which a visitor may have written', async () => {
    const { origin, seen } = await otherService()
    const ask = async () => new Response(await (await fetch(origin)).text())
    const { app } = await followed({
      routes: routes({ '/api': { handler: moduleOf({ GET: ask }) } }),
      environment: { TRUST_PROXY: '127.0.0.1,::1' },
    })
    propagation.disable()
    const propagators = [new W3CTraceContextPropagator(), new W3CBaggagePropagator()]
    propagation.setGlobalPropagator(new CompositePropagator({ propagators }))
    await request(app).get('/api').set({ traceparent: CALLER, baggage: 'role=admin' }).expect(200)
    expect(seen[0]?.['traceparent']).toContain(CALLER_TRACE)
    expect(seen[0]).not.toHaveProperty('baggage')
  })

  test('is only linked for anybody else, who could have all requests sampled', async () => {
    const { app } = await followed({ routes: table })
    await request(app).get('/').set('traceparent', CALLER).expect(200)
    const span = named(await told(), 'GET /')
    expect(span.traceId).not.toBe(CALLER_TRACE)
    expect(span).toMatchObject({
      parentSpanId: undefined,
      links: [{ traceId: CALLER_TRACE, spanId: 'b7ad6b7169203331' }],
    })
  })

  test('that is not sampled has no spans, and tells so to what it fetches', async () => {
    const { origin, seen } = await otherService()
    const ask = async () => new Response(await (await fetch(origin)).text())
    const { app, logs } = await followed({ routes: routes({ '/api': { handler: moduleOf({ GET: ask }) } }) }, 0)
    await request(app).get('/api').set('traceparent', CALLER).expect(200)
    expect(await told()).toEqual([])
    expect(seen[0]?.['traceparent']).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/)
    expect(logs.find(({ route }) => route === '/api')).not.toHaveProperty('traceId')
  })

  test('that an instrumentation of HTTP has begun gets the name of the route, and no second span', async () => {
    const spans = new InMemorySpanExporter()
    const { app } = await followed({ routes: routes({ '/mills/[id]': { page: page(() => 'mill') } }) })
    const tracer = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter: spans })] }).getTracer(
      'http',
    )
    const span = tracer.startSpan('GET', { kind: SpanKind.SERVER })
    const server = createServer((req, res) => context.with(trace.setSpan(context.active(), span), () => app(req, res)))
    await request(server).get('/mills/7').expect(200)
    span.end()
    expect(spans.getFinishedSpans()).toMatchObject([
      { name: 'GET /mills/[id]', attributes: { 'http.route': '/mills/[id]' } },
    ])
    expect(treeOf(await told())).toEqual(['shell'])
  })
})

test('without a provider nothing is followed, although the API is loaded', async () => {
  const active: unknown[] = []
  const ask = () => {
    active.push(trace.getActiveSpan())
    return new Response('asked')
  }
  const { app, logs } = tinyApp({ routes: routes({ '/api': { handler: moduleOf({ GET: ask }) } }) })
  await app.life.start()
  await request(app).get('/api').set('traceparent', CALLER).expect(200)
  expect(active).toEqual([undefined])
  expect(logs.find(({ route }) => route === '/api')).not.toHaveProperty('traceId')
})

test('what the runtime answers itself has no span: files, health, refused URLs', async () => {
  const { app } = await followed({ routes: routes({ '/': { page: page(() => 'home') } }) })
  for (const path of ['/healthz', '/readyz', '/_m/build.json', '/_m/assets/none.js', '/a//b'])
    await request(app).get(path)
  expect(await told()).toEqual([])
})

test('a long URL is not told, and an unusual method by no name of its own', async () => {
  const { app } = await followed({ routes: routes({ '/[id]': { page: page(() => 'home') } }) })
  await request(app)
    .get(`/${'a'.repeat(3_000)}`)
    .expect(200)
  await request(app).propfind('/x').expect(405)
  const spans = await told()
  expect(treeOf(spans)).toEqual(['GET /[id]', '  shell', 'HTTP /[id]'])
  expect(named(spans, 'HTTP /[id]').attributes).toMatchObject({ 'http.request.method': '_OTHER' })
  expect(apps.collector.text()).not.toContain('aaaa')
})

test('metrics are those of /metrics, by the names of the conventions where there are some', async () => {
  const { app } = await followed({ routes: routes({ '/mills/[id]': { page: page(() => 'mill') } }) })
  await request(app).get('/mills/1').expect(200)
  await request(app).get('/mills/2?token=hidden').expect(200)
  await request(app).get('/nowhere').expect(404)
  app.telemetry.load({ delayMs: 20, utilization: 0.5 } as never)
  await told()
  const points = new Map(apps.collector.points.map((point) => [point.metric, point]))
  const durations = apps.collector.points.filter(({ metric }) => metric === 'http.server.request.duration')
  expect(durations).toMatchObject([
    {
      value: 2,
      unit: 's',
      attributes: {
        'http.request.method': 'GET',
        'http.response.status_code': 200,
        'http.route': '/mills/[id]',
        'millrace.kind': 'document',
        'url.scheme': 'http',
      },
    },
    { value: 1, attributes: { 'http.response.status_code': 404 } },
  ])
  expect(points.get('millrace.http_response')).toMatchObject({ unit: 'By' })
  expect(points.get('millrace.render_phase')).toMatchObject({ unit: 's' })
  expect(points.get('millrace.renders_limit')?.value).toBeGreaterThan(0)
  expect(points.get('millrace.renders_in_progress')?.value).toBe(0)
  expect(points.get('millrace.data_cache_requests')?.attributes).toHaveProperty('result')
  expect(points.get('nodejs.eventloop.utilization')?.value).toBe(0.5)
  expect(points.get('nodejs.eventloop.delay.mean')).toMatchObject({ value: 0.02, unit: 's' })
  expect(points.has('millrace.http_connections')).toBe(false) // the server is not ours here
  expect(apps.collector.text()).not.toContain('hidden')
})
