/** Requests in progress with long headers: what one client may hold of them behind a proxy, and how it is refused. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { eventStream } from '../../../src/server/api/event-stream.ts'
import { portOf } from '../../support/listening.ts'
import { getRequest, requestRaw } from '../../support/raw-http.ts'
import type { RawResponse } from '../../support/raw-response.ts'
import { moduleOf, page, tinyApp } from '../../support/tiny-app.tsx'

/** 14 kB on the wire, and 27 kB in memory. */
const LONG = Object.fromEntries(Array.from({ length: 180 }, (_, n) => [`X-${n}`, 'b'.repeat(70)]))
/** Of a visitor with a large session: above what is free. */
const BROWSER = { Cookie: `session=${'c'.repeat(8_000)}` }

async function site() {
  const { app, logs } = tinyApp({
    routes: {
      '/': { page: page(() => <h1>Home</h1>) },
      '/live': { handler: moduleOf({ GET: () => eventStream(({ send }) => void send({ data: 'hello' })) }) },
      '/store': {
        handler: moduleOf({ POST: async ({ request }: { request: Request }) => new Response(await request.text()) }),
      },
    } as never,
    environment: { TRUST_PROXY: '127.0.0.1' },
  })
  app.readiness.markReady()
  const port = await portOf(app)
  const open: Socket[] = []
  onTestFinished(() => open.forEach((socket) => socket.destroy()))
  return {
    logs,
    ask: (path: string, client: string, headers: Readonly<Record<string, string>> = {}): Promise<RawResponse> =>
      requestRaw(port, getRequest(path, { 'X-Forwarded-For': client, Connection: 'close', ...headers })),
    /** Opens a stream that stays. @returns the first line of its answer; `reset` without one. */
    async hold(client: string): Promise<string> {
      const socket = connect(port, '127.0.0.1')
      open.push(socket)
      socket.setEncoding('latin1').on('error', () => undefined)
      socket.write(getRequest('/live', { 'X-Forwarded-For': client, ...LONG }))
      const said = await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => ['reset'])])
      return String(said[0]).split('\r\n', 1)[0] ?? ''
    },
    close: () => open.forEach((socket) => socket.destroy()),
  }
}

/** Opens streams until one is refused. @returns how many are open, and the answer to the last one. */
async function holdAll({ hold }: Awaited<ReturnType<typeof site>>, clientOf: (at: number) => string) {
  for (let count = 0; count < 3_000; count += 1) {
    const line = await hold(clientOf(count))
    if (!line.endsWith('200 OK')) return { count, line }
  }
  return { count: 3_000, line: '' }
}

test('one client behind a proxy has its share, is refused by an answer, and others begin', async () => {
  const { ask, close, ...rest } = await site()
  const { count, line } = await holdAll({ ask, close, ...rest }, () => '198.51.100.1')
  expect(line).toBe('HTTP/1.1 503 Service Unavailable')
  expect(count).toBeGreaterThan(500)
  expect(count).toBeLessThan(750) // as many streams as a client may have
  const refused = await ask('/', '198.51.100.1', LONG)
  expect([refused.status, Number(refused.header('retry-after'))]).toEqual([503, expect.toBeOneOf([1, 2, 3, 4])])
  expect(rest.logs.at(-1)).toMatchObject({ status: 503, refused: 'too many long requests of one client' })
  expect((await ask('/', '198.51.100.1')).status).toBe(200)
  expect((await ask('/', '198.51.100.2', LONG)).status).toBe(200)
  close()
  await expect.poll(async () => (await ask('/', '198.51.100.1', LONG)).status).toBe(200)
})

test('clients who hold everything keep nobody out who asks for a little', async () => {
  const { ask, ...rest } = await site()
  const { count, line } = await holdAll({ ask, ...rest }, (at) => `198.51.100.${at % 13}`)
  expect(line).toBe('HTTP/1.1 503 Service Unavailable')
  expect(count).toBeGreaterThan(1_000)
  expect((await ask('/', '198.51.100.1', LONG)).status).toBe(503)
  for (let client = 1; client <= 20; client += 1) expect(await rest.hold(`203.0.113.${client}`)).toMatch(/200 OK$/)
  expect((await ask('/', '203.0.113.21', BROWSER)).status).toBe(200)
  // That is not for who holds more than a little.
  expect(await rest.hold('203.0.113.1')).toMatch(/200 OK$/)
  expect(await rest.hold('203.0.113.1')).toMatch(/503 Service Unavailable$/)
  expect(rest.logs.filter(({ refused }) => refused === 'too many long requests').length).toBe(3)
})
