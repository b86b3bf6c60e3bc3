import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { parseDsn, type Dsn } from '../../src/server/config/dsn.ts'
import { followOutgoingRequests } from '../../src/server/reports/sdk/outgoing-requests.ts'
import type { RequestTrace } from '../../src/server/request/request-trace.ts'
import { createUpstream, type Upstream, type UpstreamBounds } from '../../src/server/reports/delivery/upstream.ts'
import { startReportSink } from '../support/report-sink.ts'

const BODY = Buffer.from('{"event_id":"0123456789abcdef0123456789abcdef"}\n{"type":"event","length":2}\n{}\n')
const never = new AbortController().signal

function dsnOf(text: string): Dsn {
  const dsn = parseDsn(text)
  if (dsn === undefined) throw new Error('no DSN')
  return dsn
}

/** A service by hand, and the way to it. */
async function rawService(answer: (socket: Socket) => void, bounds?: UpstreamBounds): Promise<Upstream> {
  const server = createServer(answer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const upstream = createUpstream(dsnOf(`http://public@127.0.0.1:${(server.address() as AddressInfo).port}/1`), bounds)
  onTestFinished(() => {
    upstream.dispose()
    server.close()
  })
  return upstream
}

async function setUp(bounds?: { silenceMs: number; deliveryMs: number }) {
  const sink = await startReportSink()
  const upstream = createUpstream(dsnOf(sink.dsn), bounds)
  onTestFinished(async () => {
    upstream.dispose()
    await sink.close()
  })
  return { sink, upstream }
}

test('an answer is told with what it says of limits', async () => {
  const { sink, upstream } = await setUp()
  sink.answer({ status: 429, headers: { 'retry-after': '7', 'x-sentry-rate-limits': '7:error:key' } })
  await expect(upstream.send(BODY, { 'user-agent': 'x' }, never)).resolves.toEqual({
    kind: 'answered',
    status: 429,
    retryAfter: '7',
    rateLimits: '7:error:key',
  })
  expect(sink.requests[0]).toMatchObject({ method: 'POST', url: '/api/42/envelope/', body: BODY })
  expect(sink.requests[0]?.headers).toMatchObject({
    'user-agent': 'x',
    'content-type': 'application/x-sentry-envelope',
    'x-sentry-auth': 'Sentry sentry_version=7, sentry_client=millrace-relay/1.0, sentry_key=public',
  })
})

test.for([200, 202, 400, 404, 413, 500, 503])('the status %i is an answer', async (status) => {
  const { sink, upstream } = await setUp()
  sink.answer({ status })
  await expect(upstream.send(BODY, {}, never)).resolves.toEqual({ kind: 'answered', status })
})

test.for([301, 302, 303, 307, 308])('a redirect (%i) is not followed and counts as no answer', async (status) => {
  const elsewhere = await startReportSink()
  const { sink, upstream } = await setUp()
  onTestFinished(() => elsewhere.close())
  sink.answer({ status, headers: { location: `http://127.0.0.1:${elsewhere.port}/api/42/envelope/` } })
  const answer = await upstream.send(BODY, {}, never)
  expect(answer).toEqual({ kind: 'unreachable', reason: `redirect ${status}` })
  expect(elsewhere.requests).toEqual([])
})

test('headers of an envelope cannot take the place of those that say where it goes', async () => {
  const { sink, upstream } = await setUp()
  await upstream.send(BODY, { 'x-sentry-auth': 'Sentry sentry_key=other', 'content-type': 'text/html' }, never)
  expect(sink.requests[0]?.headers['x-sentry-auth']).toContain('sentry_key=public')
  expect(sink.requests[0]?.headers['content-type']).toBe('application/x-sentry-envelope')
})

test('a service that is gone is told apart from one that refuses, and found again', async () => {
  const { sink, upstream } = await setUp()
  await upstream.send(BODY, {}, never)
  await sink.close()
  await expect(upstream.send(BODY, {}, never)).resolves.toEqual({ kind: 'unreachable', reason: 'ECONNREFUSED' })
  await sink.open()
  await expect(upstream.send(BODY, {}, never)).resolves.toMatchObject({ kind: 'answered' })
})

test('a service that breaks off is no answer', async () => {
  const { sink, upstream } = await setUp()
  sink.answer({ reset: true })
  await expect(upstream.send(BODY, {}, never)).resolves.toMatchObject({ kind: 'unreachable' })
})

test('a kept connection that the service has closed is no failure: the envelope goes by another', async () => {
  const connections: number[] = []
  const upstream = await rawService((socket) => {
    const at = connections.push(0) - 1
    socket
      .on('error', () => undefined)
      .on('data', (chunk) => {
        if (!chunk.includes('POST ')) return
        connections[at] = (connections[at] ?? 0) + 1
        // As one whose time for idle connections ends when the next envelope is on its way.
        if (at === 0 && connections[at] === 2) socket.resetAndDestroy()
        else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}')
      })
  })
  const answered = { kind: 'answered', status: 200 }
  await expect(upstream.send(BODY, {}, never)).resolves.toEqual(answered)
  await expect(upstream.send(BODY, {}, never)).resolves.toEqual(answered)
  await expect(upstream.send(BODY, {}, never)).resolves.toEqual(answered)
  expect(connections.slice(0, 2)).toEqual([2, 1])
})

test('an endless answer is not listened to', async () => {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  const upstream = await rawService((socket) => {
    const flood = setInterval(() => socket.write('x'.repeat(16_384)), 1)
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    socket
      .on('error', () => undefined)
      .on('close', () => {
        clearInterval(flood)
        end()
      })
  })
  await expect(upstream.send(BODY, {}, never)).resolves.toMatchObject({ kind: 'answered' })
  await ended
})

test('what a sampled request causes to be sent is no request of its trace', async () => {
  const { upstream } = await setUp()
  const spans: unknown[] = []
  const outgoing = followOutgoingRequests({ traceOrigins: [], now: () => performance.now() })
  onTestFinished(() => outgoing.dispose())
  const trace = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), sampled: true } as RequestTrace
  const caller = { trace, record: { keepSpan: (span: unknown) => void spans.push(span) } }
  await outgoing.run(caller, () => upstream.send(BODY, {}, never))
  expect(spans).toEqual([])
  await outgoing.run(caller, async () => (await fetch(`http://127.0.0.1:${(await setUp()).sink.port}/`)).text())
  expect(spans).toHaveLength(1)
})

test('a service that says nothing is not waited for', async () => {
  const { sink, upstream } = await setUp({ silenceMs: 20, deliveryMs: 60_000 })
  sink.answer({ after: new Promise(() => undefined) })
  await expect(upstream.send(BODY, {}, never)).resolves.toEqual({ kind: 'unreachable', reason: 'time-out' })
})

test('a service that sends its head byte by byte is not waited for either', async () => {
  const upstream = await rawService(
    (socket) => {
      const drip = setInterval(() => socket.write('x'), 5)
      socket.write('HTTP/1.1 200 OK\r\nX-Drip: ')
      socket.on('error', () => undefined).on('close', () => clearInterval(drip))
    },
    {
      silenceMs: 60_000,
      deliveryMs: 40,
    },
  )
  await expect(upstream.send(BODY, {}, never)).resolves.toEqual({ kind: 'unreachable', reason: 'time-out' })
})

test('a delivery can be given up, before and while it runs', async () => {
  const { sink, upstream } = await setUp()
  sink.answer({ after: new Promise(() => undefined) })
  await expect(upstream.send(BODY, {}, AbortSignal.abort())).resolves.toEqual({
    kind: 'unreachable',
    reason: 'given up',
  })
  const controller = new AbortController()
  const answer = upstream.send(BODY, {}, controller.signal)
  controller.abort()
  await expect(answer).resolves.toEqual({ kind: 'unreachable', reason: 'given up' })
})
