/** What one client can take of a server that others want to use as well, over sockets. */
import { describe, expect, onTestFinished, test } from 'vitest'
import type { LoaderArgs } from '../../src/server/index.ts'
import { portOf } from '../support/listening.ts'
import { connectRaw, getRequest, requestRaw, type RawConnection } from '../support/raw-http.ts'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const GREEDY = { 'X-Forwarded-For': '198.51.100.7' }
const HONEST = { 'X-Forwarded-For': '203.0.113.9' }

/** A site with slow pages, slow handlers and streams without an end; none of them ends before the test does. */
async function site(environment: Readonly<Record<string, string>> = {}) {
  const held = Promise.withResolvers<void>()
  const begun = { pages: 0, streams: 0 }
  const slow = {
    page: page(() => <h1>Slow</h1>),
    loader: moduleOf({
      loader: async () => {
        begun.pages += 1
        await held.promise
        return {}
      },
    }),
  }
  const { app, logs } = tinyApp({
    routes: {
      '/': { page: page(() => <h1>Home</h1>) },
      '/slow': slow,
      '/early': { ...slow, shell: 'early', loading: moduleOf({ default: () => <p>Wait</p> }) },
      '/number/[n]': { page: page(({ params }: { params: { n: string } }) => <h1>{`Page ${params.n}`}</h1>) },
      '/events': {
        handler: moduleOf({
          GET: ({ signal }: LoaderArgs) => {
            begun.streams += 1
            const body = new ReadableStream({
              start(controller) {
                controller.enqueue(new TextEncoder().encode('data: first\n\n'))
                signal.addEventListener('abort', () => controller.error(signal.reason))
              },
            })
            return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } })
          },
        }),
      },
    },
    middleware: [
      (req, res, next) => {
        if (req.path === '/number/last') res.setHeader('Connection', 'close')
        next()
      },
    ],
    environment: { TRUST_PROXY: '127.0.0.1', ...environment },
  })
  app.readiness.markReady()
  const port = await portOf(app)
  onTestFinished(() => held.resolve())
  return {
    app,
    begun,
    logs,
    port,
    release: held.resolve,
    status: async (path: string, headers: Readonly<Record<string, string>> = HONEST) =>
      (await requestRaw(port, getRequest(path, headers))).status,
    /** Sends requests, each over a connection of its own unless told otherwise. */
    async send(requests: readonly string[], each: 'own' | 'same' = 'own'): Promise<readonly RawConnection[]> {
      const connections: RawConnection[] = []
      for (const bytes of each === 'own' ? requests : [requests.join('')]) {
        const connection = await connectRaw(port)
        onTestFinished(() => connection[Symbol.dispose]())
        await connection.send(bytes)
        connections.push(connection)
      }
      return connections
    },
  }
}

const many = (count: number, path: string, headers: Readonly<Record<string, string>> = GREEDY): readonly string[] =>
  Array.from({ length: count }, () => getRequest(path, headers))

describe('requests that are pipelined on one connection', () => {
  test('begin one after the other, and take one place', async () => {
    const { app, begun, send, status } = await site({ MAX_PENDING_RENDERS: '8' })
    await send(many(300, '/slow'), 'same')
    await expect.poll(() => begun.pages).toBe(1)
    expect(await status('/')).toBe(200)
    expect(await status('/_m/data/')).toBe(200)
    expect(await status('/readyz')).toBe(200)
    expect([begun.pages, app.admission.pending]).toEqual([1, 1])
  })

  test('are answered in their order, each by its own answer', async () => {
    const { send } = await site({ MAX_PENDING_RENDERS: '1' })
    const requests = Array.from({ length: 100 }, (_, n) => getRequest(`/number/${n}`))
    const [connection] = await send(requests, 'same')
    for (let n = 0; n < requests.length; n += 1) {
      const answer = await connection?.response()
      expect([answer?.status, answer?.text]).toEqual([200, expect.stringContaining(`Page ${n}<`)])
    }
  })

  test('never begin where the connection closes first, and leave nothing behind', async () => {
    const { app, begun, send, release, port } = await site({ MAX_PENDING_RENDERS: '8' })
    const [connection] = await send(many(50, '/slow'), 'same')
    await expect.poll(() => begun.pages).toBe(1)
    connection?.socket.resetAndDestroy()
    release()
    await expect.poll(() => app.admission.pending).toBe(0)
    expect((await requestRaw(port, getRequest('/'))).status).toBe(200)
    expect(begun.pages).toBe(1)
  })

  test('do not begin behind an answer that ends the connection', async () => {
    const { begun, send } = await site()
    const [connection] = await send([getRequest('/number/last'), getRequest('/slow')], 'same')
    expect((await connection?.response())?.status).toBe(200)
    expect((await connection?.end())?.how).toBe('fin')
    expect(begun.pages).toBe(0)
  })

  test('are counted by what they take in memory: with many headers, far fewer may wait', async () => {
    const { begun, send, status } = await site()
    const headers = Object.fromEntries(Array.from({ length: 180 }, (_, at) => [`X-${at}`, 'x'.repeat(50)]))
    const [plain] = await send(many(1_500, '/slow'), 'same')
    await expect.poll(() => begun.pages).toBe(1)
    const [connection] = await send(many(1_500, '/slow', headers), 'same')
    expect((await connection?.end())?.how).toBe('reset')
    expect(plain?.socket.closed).toBe(false)
    expect(await status('/')).toBe(200)
  })

  test('open one event stream, whatever their number', async () => {
    const { begun, send, status } = await site({ MAX_OPEN_STREAMS: '8' })
    await send(many(1_100, '/events'), 'same')
    await expect.poll(() => begun.streams).toBe(1)
    expect(await status('/')).toBe(200)
    expect(begun.streams).toBe(1)
  })
})

describe('a client with many connections', () => {
  test.for(['/slow', '/early'])(
    'has all places while it is alone; others get theirs at once, and the instance stays ready: %s',
    async (slow) => {
      const { app, begun, send, status } = await site({ MAX_PENDING_RENDERS: '8' })
      const connections = await send(many(12, slow))
      await expect.poll(() => [begun.pages, app.admission.waiting]).toEqual([8, 4])
      for (const path of ['/', '/_m/data/', '/readyz']) expect([path, await status(path)]).toEqual([path, 200])
      expect(app.admission.waiting).toBe(4)
      // Its own pages wait, and are refused in the end; health never is.
      expect([await status('/', GREEDY), await status('/readyz', GREEDY)]).toEqual([503, 200])
      for (const connection of connections.slice(8)) {
        const answer = await connection.response()
        expect([answer.status, answer.header('retry-after')]).toEqual([503, expect.stringMatching(/^[1-4]$/)])
      }
    },
  )

  test('gets the places that become free, in turn with others that wait', async () => {
    const { app, begun, send, release, status } = await site({ MAX_PENDING_RENDERS: '3' })
    const connections = await send([...many(6, '/slow'), ...many(1, '/slow', HONEST)])
    await expect.poll(() => [begun.pages, app.admission.waiting]).toEqual([3, 4])
    release()
    for (const connection of connections) expect((await connection.response()).status).toBe(200)
    expect(await status('/')).toBe(200)
    expect(app.admission.waiting).toBe(0)
  })

  test('leaves no place behind where it goes away while it waits', async () => {
    const { app, send, release, status } = await site({ MAX_PENDING_RENDERS: '1' })
    const [, ...waiting] = await send(many(5, '/slow'))
    await expect.poll(() => app.admission.waiting).toBe(4)
    for (const { socket } of waiting) socket.resetAndDestroy()
    release()
    await expect.poll(() => [app.admission.pending, app.admission.waiting]).toEqual([0, 0])
    expect(await status('/')).toBe(200)
  })

  test('has no more by the addresses of its IPv6 network', async () => {
    const { begun, send, status } = await site({ MAX_PENDING_RENDERS: '8' })
    const requests = Array.from({ length: 12 }, (_, n) =>
      getRequest('/slow', { 'X-Forwarded-For': `2001:db8:7:1::${(n + 1).toString(16)}` }),
    )
    await send(requests)
    await expect.poll(() => begun.pages).toBe(8)
    expect(await status('/', { 'X-Forwarded-For': '2001:db8:7:1:ffff::1' })).toBe(503)
    expect(await status('/', { 'X-Forwarded-For': '2001:db8:7:2::1' })).toBe(200)
  })

  test('is served as long as there is room, like an office behind one address', async () => {
    const { status, send, begun } = await site({ MAX_PENDING_RENDERS: '8' })
    await send(many(3, '/slow'))
    await expect.poll(() => begun.pages).toBe(3)
    expect(await status('/', GREEDY)).toBe(200)
  })

  test('has no more requests with long headers in progress than its share, and keeps nobody else out', async () => {
    const { begun, send, status } = await site({ TRUST_PROXY: '192.0.2.1', MAX_OPEN_STREAMS: '10000' })
    const headers = Object.fromEntries(Array.from({ length: 180 }, (_, at) => [`X-${at}`, 'x'.repeat(70)]))
    const opened = await send(many(900, '/events', headers))
    const lines = await Promise.all(opened.map((connection) => connection.receive('HTTP/1.1 200'.length)))
    const statuses = lines.map((line) => Number(line.subarray(-3).toString('latin1')))
    expect(new Set(statuses)).toEqual(new Set([200, 503]))
    expect(statuses.filter((refused) => refused === 503).length).toBeGreaterThan(200)
    expect(statuses.filter((refused) => refused === 503).length).toBeLessThan(500)
    expect(await status('/')).toBe(200)
    const most = begun.streams
    for (const connection of opened) connection.socket.destroy()
    await expect
      .poll(async () => {
        await send(many(1, '/events', headers))
        return begun.streams
      })
      .toBeGreaterThan(most)
  })

  test('gives its places back when it goes away and its loaders are done', async () => {
    const { app, begun, release, send, status } = await site({ MAX_PENDING_RENDERS: '8' })
    const connections = await send(many(8, '/slow'))
    await expect.poll(() => begun.pages).toBe(8)
    expect(await status('/', GREEDY)).toBe(503)
    for (const { socket } of connections) socket.resetAndDestroy()
    release()
    await expect.poll(() => app.admission.pending).toBe(0)
    expect(await status('/', GREEDY)).toBe(200)
  })

  test('has half of the event streams, while others open theirs', async () => {
    const { begun, send, status } = await site({ MAX_OPEN_STREAMS: '8' })
    const connections = await send(many(6, '/events'))
    await expect.poll(() => begun.streams).toBe(4)
    expect((await connections[5]?.response())?.status).toBe(503)
    await send(many(2, '/events', HONEST))
    await expect.poll(() => begun.streams).toBe(6)
    expect(await status('/events')).toBe(503)
    expect(await status('/')).toBe(200)
    // A reader that leaves makes room.
    connections[0]?.socket.resetAndDestroy()
    connections[1]?.socket.resetAndDestroy()
    connections[2]?.socket.resetAndDestroy()
    await send(many(1, '/events', HONEST))
    await expect.poll(() => begun.streams).toBe(7)
  })

  test('cannot keep newcomers out together with two others, neither from pages nor from handlers', async () => {
    const { begun, send, status } = await site({ MAX_PENDING_RENDERS: '12', MAX_OPEN_STREAMS: '8' })
    const clients = ['198.51.100.1', '198.51.100.2', '198.51.100.3'].map((ip) => ({ 'X-Forwarded-For': ip }))
    for (const [at, client] of clients.entries()) {
      await send(many(4, '/slow', client))
      await expect.poll(() => begun.pages).toBe(4 * (at + 1))
    }
    expect(await status('/')).toBe(200)
    for (const [at, client] of clients.entries()) {
      const opened = await send(many(5, '/events', client))
      await Promise.all(opened.map((connection) => connection.receive('HTTP/1.1 200'.length)))
      expect(begun.streams).toBe([4, 6, 7][at])
    }
    const [own] = await send(many(1, '/events', HONEST))
    expect(String(await own?.receive('HTTP/1.1 200'.length))).toBe('HTTP/1.1 200')
  })

  test('is named once in the log where it may be a proxy that nobody has named', async () => {
    const { logs, send } = await site({ MAX_OPEN_STREAMS: '8', TRUST_PROXY: '' })
    const lines = () => logs.filter(({ msg }) => String(msg).includes('TRUST_PROXY'))
    await send([...many(3, '/events', GREEDY), ...many(3, '/events', HONEST)])
    await expect.poll(() => lines().length).toBe(1)
    expect(lines()).toEqual([expect.objectContaining({ address: '127.0.0.1', level: 40 })])
  })
})

describe('a document that is refused for load', () => {
  test('gets its 503 a little later, and data gets it at once', async () => {
    const { app, port } = await site()
    for (let sample = 0; sample < 50; sample += 1) app.admission.sample({ latenessMs: 4_000, utilization: 1 })
    const asked = performance.now()
    const answers = await Promise.all(
      ['/', '/', '/_m/data/'].map(async (path) => {
        const { status } = await requestRaw(port, getRequest(path))
        return { path, status, after: performance.now() - asked }
      }),
    )
    const documents = answers.filter(({ path, status }) => path === '/' && status === 503)
    expect(documents.length).toBeGreaterThan(0)
    for (const { after } of documents) expect(after).toBeGreaterThan(190)
    expect(answers.at(-1)?.status).toBe(503)
    expect(answers.at(-1)?.after).toBeLessThan(Math.min(...documents.map(({ after }) => after)))
  })
})
