import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import request from 'supertest'
import { describe, expect, onTestFinished, test } from 'vitest'
import { followOutgoingRequests, type OutgoingRequests } from '../../src/server/reports/sdk/outgoing-requests.ts'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'
import { failingServer, type Json } from './failing-server.ts'

const SAMPLED = { SENTRY_TRACES_SAMPLE_RATE: '1' }
const CALLER = '0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-1'

/** Another service, and the headers it was sent, by path. */
async function service(answer: RequestListener): Promise<{ origin: string; seen: Map<string, IncomingHttpHeaders> }> {
  const seen = new Map<string, IncomingHttpHeaders>()
  const server = createServer((req, res) => {
    seen.set(req.url ?? '', req.headers)
    answer(req, res)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

/** A page whose loader asks other services. */
const asking = (ask: () => Promise<unknown>) =>
  ({ '/': { page: page(() => 'home'), loader: moduleOf({ loader: ask as never }) } }) as never

function fetched(transaction: Json | undefined): readonly Json[] {
  return ((transaction?.['spans'] ?? []) as Json[]).filter(({ op }) => op === 'http.client')
}

const okay: RequestListener = (_req, res) => void res.end('corn')

describe('what a sampled request fetches', () => {
  test('is a span of its trace, without path or query', async () => {
    const { origin } = await service(okay)
    const ask = async () => (await fetch(`${origin}/secret?token=hidden`, { method: 'PUT', body: 'x' })).text()
    const { app, reported } = await failingServer({ routes: asking(ask) }, SAMPLED)
    await request(app).get('/').expect(200)
    const [transaction] = await reported('transaction')
    const contexts = transaction?.['contexts'] as { trace: Json } | undefined
    expect(fetched(transaction)).toMatchObject([
      {
        description: `PUT ${origin}`,
        trace_id: contexts?.trace['trace_id'],
        parent_span_id: contexts?.trace['span_id'],
        status: 'ok',
        data: { 'http.response.status_code': 200 },
      },
    ])
    expect(JSON.stringify(transaction)).not.toMatch(/secret|hidden/)
  })

  test('side by side with others belongs to each alone', async () => {
    const { origin } = await service((_req, res) => setImmediate(() => res.end('corn')))
    const routes = {
      '/[count]': {
        page: page(() => 'home'),
        loader: moduleOf({
          loader: async ({ params }: { params: { count: string } }) => {
            for (let at = 0; at < Number(params.count); at += 1) await (await fetch(origin)).text()
          },
        }),
      },
    } as never
    const { app, reported } = await failingServer({ routes }, SAMPLED)
    await Promise.all([1, 2, 3].map((count) => request(app).get(`/${count}`).expect(200)))
    expect((await reported('transaction')).map((one) => fetched(one).length).toSorted()).toEqual([1, 2, 3])
  })

  test('is a span that has failed, where the service cannot be reached or fails', async () => {
    const { origin } = await service((_req, res) => void res.writeHead(503).end())
    const gone = await service(({ socket }) => socket.destroy())
    const ask = async () => {
      await fetch(origin)
      await fetch(gone.origin).catch(() => undefined)
    }
    const { app, reported } = await failingServer({ routes: asking(ask) }, SAMPLED)
    await request(app).get('/').expect(200)
    const [transaction] = await reported('transaction')
    expect(fetched(transaction)).toMatchObject([{ status: 'unavailable' }, { status: 'internal_error' }])
    expect(await reported('event')).toEqual([])
  })

  test('and is not there, redirects, or is given up, is no failure and no span', async () => {
    const { origin } = await service((req, res) => {
      if (req.url === '/moved') res.writeHead(302, { Location: '/there' }).end()
      else if (req.url === '/missing') res.writeHead(404).end()
      else if (req.url === '/there') res.end('corn')
    })
    const ask = async () => {
      await (await fetch(`${origin}/moved`)).text()
      await fetch(`${origin}/missing`)
      const given = new AbortController()
      const slow = fetch(`${origin}/slow`, { signal: given.signal })
      setImmediate(() => given.abort())
      await slow.catch(() => undefined)
    }
    const { app, reported } = await failingServer({ routes: asking(ask) }, SAMPLED)
    await request(app).get('/').expect(200)
    const [transaction] = await reported('transaction')
    expect(fetched(transaction)).toMatchObject([{ status: 'ok', data: { 'http.response.status_code': 200 } }])
    expect(await reported('event')).toEqual([])
  })

  test('is followed no more once the server has been closed', async () => {
    const { origin } = await service(okay)
    const kept: unknown[] = []
    const trace = {
      traceId: 'a'.repeat(32),
      spanId: 'b'.repeat(16),
      parentSpanId: undefined,
      sampled: true,
      sampling: {},
    }
    const fetchThrough = async (outgoing: OutgoingRequests) =>
      (await outgoing.run({ trace, record: { keepSpan: (span) => kept.push(span) } }, () => fetch(origin))).text()
    const outgoing = followOutgoingRequests({ traceOrigins: [], now: () => 0 })
    await fetchThrough(outgoing)
    expect(kept).toHaveLength(1)
    outgoing.dispose()
    await fetchThrough(outgoing)
    expect(kept).toHaveLength(1)
  })
})

describe('the trace goes on', () => {
  const ask = (...urls: readonly string[]) =>
    asking(async () => void (await Promise.all(urls.map((url) => fetch(url)))))

  test('to origins that the application has named, and to no other', async () => {
    const [named, other] = [await service(okay), await service(okay)]
    const { app, reported } = await failingServer(
      { routes: ask(`${named.origin}/`, `${other.origin}/`), reports: { traceOrigins: [named.origin] } },
      SAMPLED,
    )
    const ofPage = { 'sentry-trace': CALLER, baggage: 'sentry-release=r1', 'Sec-Fetch-Site': 'same-origin' }
    await request(app).get('/').set(ofPage).expect(200)
    const [transaction] = await reported('transaction')
    const span = fetched(transaction).find(({ description }) => String(description).endsWith(named.origin))
    expect(named.seen.get('/')).toMatchObject({
      'sentry-trace': `${CALLER.slice(0, 32)}-${String(span?.['span_id'])}-1`,
      baggage: 'sentry-release=r1',
    })
    expect(other.seen.get('/')).not.toHaveProperty('sentry-trace')
    expect(other.seen.get('/')).not.toHaveProperty('baggage')
  })

  test('not to where a named origin redirects to', async () => {
    const other = await service(okay)
    const named = await service((_req, res) => void res.writeHead(307, { Location: `${other.origin}/` }).end())
    const { app } = await failingServer(
      { routes: ask(`${named.origin}/`), reports: { traceOrigins: [named.origin] } },
      SAMPLED,
    )
    await request(app).get('/').expect(200)
    expect(named.seen.get('/')).toHaveProperty('sentry-trace')
    expect(other.seen.get('/')).not.toHaveProperty('sentry-trace')
  })

  test('from requests that are not sampled too, without a span of theirs', async () => {
    const named = await service(okay)
    const { app, sink } = await failingServer({
      routes: ask(`${named.origin}/`),
      reports: { traceOrigins: [named.origin] },
    })
    const { headers } = await request(app).get('/').expect(200)
    const handed = /sentry-trace;desc="([^"]+)"/.exec(headers['server-timing'] ?? '')?.[1]
    expect(named.seen.get('/')?.['sentry-trace']).toBe(handed)
    expect(sink.requests).toEqual([])
  })

  test('as the application has set it itself', async () => {
    const named = await service(okay)
    const own = asking(async () => void (await fetch(`${named.origin}/`, { headers: { 'Sentry-Trace': CALLER } })))
    const { app } = await failingServer({ routes: own, reports: { traceOrigins: [named.origin] } }, SAMPLED)
    await request(app).get('/').expect(200)
    expect(named.seen.get('/')?.['sentry-trace']).toBe(CALLER)
  })
})

test.for(['api.example.com', 'https://api.example.com/', 'https://api.example.com/v1', 'ftp://api.example.com'])(
  'a server does not start where %s is to be an origin',
  (origin) => {
    const routes = { '/': { page: page(() => 'home') } } as never
    expect(() => tinyApp({ routes, reports: { traceOrigins: [origin] } })).toThrow(
      `reports.traceOrigins: '${origin}' is not an origin`,
    )
  },
)
