/** WebSockets through the whole application: its middleware, its rules, its log. The proxy alone: `proxy-upgrade.test.ts`. */
import type { Socket } from 'node:net'
import type { RequestHandler } from 'express'
import { expect, onTestFinished, test, vi } from 'vitest'
import { portOf } from '../support/listening.ts'
import { connectRaw, getRequest } from '../support/raw-http.ts'
import { page, tinyApp } from '../support/tiny-app.tsx'
import { rawUpstream, until } from './proxy-setup.ts'

const HANDSHAKE = getRequest('/socket/a', {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
})
const SWITCHING = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
const PLAIN = 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nplain'

/** An application in front of an upstream that accepts every handshake. */
async function tunnelling(middleware: RequestHandler = (_req, _res, next) => next()) {
  const heads: string[] = []
  const upstream = await rawUpstream((socket: Socket) => {
    socket.once('data', (bytes) => {
      const head = bytes.toString('latin1')
      heads.push(head)
      if (!/^upgrade: websocket\r$/im.test(head)) return void socket.end(PLAIN)
      socket.write(SWITCHING)
      socket.on('data', (more) => socket.write(`<${String(more)}>`))
      socket.on('end', () => socket.end())
    })
  })
  onTestFinished(() => upstream[Symbol.asyncDispose]())
  const { app, logs } = tinyApp({
    routes: { '/': { page: page(() => <p>home</p>) } },
    middleware: [middleware],
    rules: { rewrites: [{ source: '/socket/:path*', destination: `http://127.0.0.1:${upstream.port}/:path*` }] },
  })
  return { app, logs, heads, upstream, port: await portOf(app) }
}

test('a WebSocket passes the middleware, and is one line of the log when it is over', async () => {
  const seen: string[] = []
  const { port, logs } = await tunnelling((req, _res, next) => {
    seen.push(req.path)
    next()
  })
  {
    using connection = await connectRaw(port)
    await connection.send(HANDSHAKE)
    expect((await connection.response()).status).toBe(101)
    await connection.send('ping')
    expect((await connection.receive(6)).toString()).toBe('<ping>')
    expect([seen, logs]).toEqual([['/socket/a'], []])
  }
  await until(() => logs.length > 0)
  expect(logs).toMatchObject([{ method: 'GET', status: 101, route: expect.stringMatching(/^-> http:/) }])
  expect(logs[0]).not.toHaveProperty('aborted')
})

test('below a base path the handshake has it, and the upstream does not', async () => {
  vi.stubGlobal('MILLRACE_BASE_PATH', '/shop')
  const { app, port, heads } = await tunnelling()
  using connection = await connectRaw(port)
  await connection.send(HANDSHAKE.replace('/socket/a', '/shop/socket/a'))
  expect((await connection.response()).status).toBe(101)
  expect(heads).toEqual([expect.stringMatching(/^GET \/a HTTP/)])
  const headers = { host: 'localhost', connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }
  const asked = { url: '/socket/a', method: 'GET', headers, rawHeaders: [], httpVersionMajor: 1, socket: {} }
  expect(app.shouldUpgrade(asked as never)).toBe(false)
})

test('while Node reads its head, no condition is asked: the turn for that comes later', () => {
  const condition = [{ type: 'cookie' as const, key: 'plan', value: '(?<plan>(a|b)+)' }]
  const elsewhere = { destination: 'http://127.0.0.1:9/:path*', has: condition }
  const rulesOf = (source: string) => ({
    redirects: [{ source: '/:path*', destination: '/gone', permanent: false, has: condition }],
    rewrites: [{ source, ...elsewhere }],
  })
  const read: string[] = []
  const headers = new Proxy<Record<string, string>>(
    { host: 'localhost', connection: 'Upgrade', upgrade: 'websocket', cookie: 'plan=abab' },
    {
      get(target, name) {
        read.push(String(name))
        return target[String(name)]
      },
    },
  )
  const asked = (url: string) =>
    ({ url, method: 'GET', headers, rawHeaders: [], httpVersionMajor: 1, socket: {} }) as never
  const { app } = tinyApp({ routes: {}, rules: rulesOf('/socket/:path*') })
  expect([app.shouldUpgrade(asked('/socket/a')), app.shouldUpgrade(asked('/other'))]).toEqual([true, false])
  const { app: none } = tinyApp({ routes: {}, rules: { redirects: rulesOf('/').redirects } })
  expect(none.shouldUpgrade(asked('/socket/a'))).toBe(false)
  expect(read).toContain('upgrade')
  expect(read).not.toContain('cookie')
})

test('one that is pipelined behind an answer that is not out ends its connection, and nothing else', async () => {
  const late: { answer?: () => void } = {}
  const { port, heads } = await tunnelling((req, res, next) => {
    if (req.path === '/') late.answer = () => void res.end()
    else next()
  })
  using connection = await connectRaw(port)
  await connection.send(getRequest('/') + HANDSHAKE)
  expect((await connection.end()).rest.toString()).toBe('')
  late.answer?.()
  expect(heads).toEqual([])
  using other = await connectRaw(port)
  await other.send(HANDSHAKE)
  expect((await other.response()).status).toBe(101)
})

test('one that is open does not keep a server that is going', async () => {
  const { app, port, logs, upstream } = await tunnelling()
  using connection = await connectRaw(port)
  await connection.send(HANDSHAKE)
  expect((await connection.response()).status).toBe(101)
  app.readiness.markDraining()
  await connection.end()
  await until(() => logs.length > 0 && upstream.connections.every(({ destroyed }) => destroyed))
  expect(logs).toMatchObject([{ status: 101 }])
})

test('one that middleware answers, late as well, never reaches the other origin', async () => {
  const { port, heads, logs } = await tunnelling((_req, res) => void setImmediate(() => res.redirect('/sign-in')))
  using connection = await connectRaw(port)
  await connection.send(`${HANDSHAKE}early`)
  const answer = await connection.response()
  expect([answer.status, answer.header('location'), answer.header('connection')]).toEqual([302, '/sign-in', 'close'])
  expect((await connection.end()).how).toBe('fin')
  expect(heads).toEqual([])
  expect(logs).toMatchObject([{ status: 302, route: null }])
})

test('one whose middleware fails is answered, and the server goes on', async () => {
  const { port, heads } = await tunnelling((req, _res, next) => {
    if (req.headers.upgrade !== undefined) throw new Error('broken')
    next()
  })
  for (let round = 0; round < 2; round += 1) {
    using connection = await connectRaw(port)
    await connection.send(HANDSHAKE)
    expect((await connection.response()).status).toBe(500)
  }
  expect(heads).toEqual([])
})

test('a visitor who resets while middleware thinks is not led on', async () => {
  const held: (() => void)[] = []
  const { port, upstream, logs } = await tunnelling((_req, _res, next) => void held.push(next))
  const connection = await connectRaw(port)
  await connection.send(HANDSHAKE)
  await until(() => held.length === 1)
  connection.socket.resetAndDestroy()
  await until(() => logs.length > 0)
  expect(logs).toMatchObject([{ status: 0, aborted: true }])
  using next = await connectRaw(port)
  await next.send(HANDSHAKE)
  await until(() => held.length === 2)
  for (const goOn of held) goOn()
  expect((await next.response()).status).toBe(101)
  expect(upstream.connections).toHaveLength(1)
})

test('what is no handshake of a WebSocket is an ordinary request, its body included', async () => {
  const { port, heads } = await tunnelling()
  const body = HANDSHAKE.replace('GET', 'POST').replace('\r\n\r\n', '\r\nContent-Length: 4\r\n\r\nbody')
  for (const request of [body, HANDSHAKE.replace('websocket', 'h2c')]) {
    using connection = await connectRaw(port)
    await connection.send(request)
    expect((await connection.response()).text).toBe('plain')
  }
  expect(heads.map((head) => /^upgrade:/im.test(head))).toEqual([false, false])
  expect(heads[0]).toMatch(/\r\n\r\nbody$/)
})

test('middleware that answers what takes too long says nothing into a WebSocket', async () => {
  const held: (() => void)[] = []
  const { port, logs } = await tunnelling((_req, res, next) => {
    held.push(() => void (res.headersSent || res.status(503).send('too slow')))
    next()
  })
  {
    using connection = await connectRaw(port)
    await connection.send(HANDSHAKE)
    expect((await connection.response()).status).toBe(101)
    for (const answer of held) answer()
    await connection.send('ping')
    expect((await connection.receive(6)).toString()).toBe('<ping>')
  }
  await until(() => logs.length > 0)
  expect([held.length, logs.map(({ status }) => status)]).toEqual([1, [101]])
})

test('a handshake that middleware has begun to answer does not become a WebSocket in the middle of that', async () => {
  const held: (() => void)[] = []
  const { port, upstream } = await tunnelling((_req, res, next) => {
    next()
    res.write('too ')
    held.push(() => void res.end('slow'))
  })
  using connection = await connectRaw(port)
  await connection.send(HANDSHAKE)
  await until(() => upstream.connections[0]?.destroyed === true)
  for (const end of held) end()
  const answer = await connection.response()
  expect([answer.status, answer.text]).toEqual([200, 'too slow'])
})

test('tunnels end with the application', async () => {
  const { app, port } = await tunnelling()
  using connection = await connectRaw(port)
  await connection.send(HANDSHAKE)
  expect((await connection.response()).status).toBe(101)
  app.dispose()
  expect((await connection.end()).rest).toHaveLength(0)
})

const OWN_PATHS = [
  '/',
  '/nope',
  '/_m/data/',
  '/_m/build.json',
  '/_m/assets/a.js',
  '/_m/reports/a',
  '/healthz',
  '/readyz',
]

test.for(
  OWN_PATHS.flatMap((path) => ['websocket', 'h2c', 'websocket, h2c'].map((protocol) => [path, protocol] as const)),
)(
  'where no rule leads elsewhere, %s with Upgrade: %s is answered as without it, and its body holds no request',
  async ([path, protocol]) => {
    const { port, heads } = await tunnelling()
    const hidden = getRequest('/hidden')
    const statusOf = async (upgrade: Readonly<Record<string, string>>, body = ''): Promise<readonly unknown[]> => {
      using connection = await connectRaw(port)
      await connection.send(getRequest(path, { ...upgrade, 'Sec-WebSocket-Version': '13' }) + body)
      const { status } = await connection.response()
      return [status, (await connection.end()).rest.length]
    }
    const plain = await statusOf({ Connection: 'close' })
    const upgrade = { Connection: 'Upgrade, HTTP2-Settings, close', Upgrade: protocol, 'HTTP2-Settings': 'AAMAAABk' }
    const chunked = `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`
    expect(await statusOf(upgrade)).toEqual(plain)
    expect(await statusOf({ ...upgrade, 'Content-Length': String(hidden.length) }, hidden)).toEqual(plain)
    expect(await statusOf({ ...upgrade, 'Transfer-Encoding': 'chunked' }, chunked)).toEqual(plain)
    expect(heads).toEqual([])
  },
)
