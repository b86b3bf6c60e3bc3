/** What one client can take of the requests that rewrites pass on to other origins. */
import { expect, onTestFinished, test } from 'vitest'
import { portOf } from '../../support/listening.ts'
import { connectRaw, getRequest, type RawConnection } from '../../support/raw-http.ts'
import { page, tinyApp } from '../../support/tiny-app.tsx'
import { rawUpstream } from '../proxy-setup.ts'

const GREEDY = { 'X-Forwarded-For': '198.51.100.7' }
const HONEST = { 'X-Forwarded-For': '203.0.113.9' }
const HANDSHAKE = { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' }
const SWITCHING = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'

/** A site in front of an upstream that takes WebSockets and never answers anything else. */
async function site() {
  let passedOn = 0
  const upstream = await rawUpstream((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', (bytes) => {
      passedOn += 1
      if (bytes.includes('upgrade: websocket')) socket.write(SWITCHING)
    })
  })
  const { app } = tinyApp({
    routes: { '/': { page: page(() => 'home') } },
    rules: { rewrites: [{ source: '/up/:path*', destination: `http://127.0.0.1:${upstream.port}/:path*` }] },
    environment: { TRUST_PROXY: '127.0.0.1', MAX_OPEN_STREAMS: '8' },
  })
  const port = await portOf(app)
  const connections: RawConnection[] = []
  onTestFinished(async () => {
    for (const connection of connections) connection.socket.resetAndDestroy()
    await upstream[Symbol.asyncDispose]()
  })
  return {
    passedOn: () => passedOn,
    connections,
    async send(count: number, headers: Readonly<Record<string, string>>) {
      const opened = await Promise.all(Array.from({ length: count }, () => connectRaw(port)))
      connections.push(...opened)
      for (const connection of opened) await connection.send(getRequest('/up/a', headers))
      return opened
    },
  }
}

test.for([
  ['requests', {}],
  ['WebSockets', HANDSHAKE],
] as const)('%s of one client take half of what may be passed on, and give it back', async ([, kind]) => {
  const { send, passedOn, connections } = await site()
  const greedy = await send(12, { ...GREEDY, ...kind })
  await expect.poll(passedOn).toBe(4)
  const refused = await Promise.all(greedy.slice(4).map((connection) => connection.response()))
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]))
  await send(2, { ...HONEST, ...kind })
  await expect.poll(passedOn).toBe(6)
  for (const connection of connections.splice(0)) connection.socket.resetAndDestroy()
  await expect
    .poll(async () => {
      await send(1, { ...GREEDY, ...kind })
      return passedOn()
    })
    .toBeGreaterThan(6)
})
