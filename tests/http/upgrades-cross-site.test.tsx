/** Handshakes of WebSockets that pages of other sites begin: browsers send the visitor's cookies along with them. */
import type { Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { portOf } from '../support/listening.ts'
import { connectRaw, getRequest } from '../support/raw-http.ts'
import { page, tinyApp } from '../support/tiny-app.tsx'
import { rawUpstream } from './proxy-setup.ts'

const SWITCHING = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'

/** @returns what a handshake is answered with, and how many have reached the other origin. */
async function tunnels(environment: Readonly<Record<string, string>> = {}) {
  const heads: string[] = []
  const upstream = await rawUpstream((socket: Socket) => {
    socket.once('data', (bytes) => {
      heads.push(bytes.toString('latin1'))
      socket.write(SWITCHING)
    })
  })
  onTestFinished(() => upstream[Symbol.asyncDispose]())
  const to = `http://127.0.0.1:${upstream.port}/:path*`
  const { app } = tinyApp({
    routes: { '/': { page: page(() => <p>home</p>) } },
    environment,
    rules: {
      rewrites: [
        { source: '/own/:path*', destination: to },
        { source: '/open/:path*', destination: to, websocket: 'cross-site' },
      ],
    },
  })
  const port = await portOf(app)
  return async (target: string, headers: Readonly<Record<string, string>>) => {
    heads.length = 0
    using connection = await connectRaw(port)
    const upgrade = { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13', Cookie: 'sid=1' }
    await connection.send(getRequest(target, { ...upgrade, ...headers }))
    return [(await connection.response()).status, heads.length]
  }
}

const FOREIGN = [
  { Origin: 'https://evil.test' },
  { Origin: 'null' },
  { Origin: 'http://localhost.evil.test' },
  { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.test' },
  { 'Sec-Fetch-Site': 'same-site', Origin: 'http://other.localhost' },
  { 'Sec-Fetch-Site': 'cross-site' },
] as const

test.for(FOREIGN)('%j is refused before the other origin hears of it, unless the rewrite takes it', async (headers) => {
  const handshake = await tunnels()
  expect(await handshake('/own/a', headers)).toEqual([403, 0])
  expect(await handshake('/open/a', headers)).toEqual([101, 1])
})

test.for([{}, { Origin: 'http://localhost' }, { 'Sec-Fetch-Site': 'same-origin', Origin: 'https://localhost' }])(
  '%j is taken, as a page of this site or a program sends it',
  async (headers) => {
    const handshake = await tunnels()
    expect(await handshake('/own/a', headers)).toEqual([101, 1])
  },
)

test('with ORIGIN, that counts and not the host of the request', async () => {
  const handshake = await tunnels({ ORIGIN: 'https://shop.test' })
  const host = { Host: 'shop.test' }
  expect(await handshake('/own/a', { ...host, Origin: 'https://shop.test' })).toEqual([101, 1])
  expect(await handshake('/own/a', { ...host, Origin: 'http://shop.test' })).toEqual([403, 0])
})
