import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { forwardUpgrade } from '../../../scripts/dev/serve/forward.ts'

async function portOf(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

const HANDSHAKE = 'GET /socket HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n'

/** An application behind the gateway's forwarding, and what a client has received so far. */
async function forwarded(listener: RequestListener, upgrade?: (socket: Duplex, head: Buffer) => void) {
  const app = createServer(listener)
  if (upgrade !== undefined) app.on('upgrade', (_request, socket, head) => upgrade(socket, head))
  const port = await portOf(app)
  const gateway = createServer().on('upgrade', (request, socket, head) => forwardUpgrade(request, socket, head, port))
  const client: Socket = connect(await portOf(gateway), '127.0.0.1').setEncoding('utf8')
  onTestFinished(() => void client.destroy())
  const received = { text: '' }
  client.on('data', (part) => (received.text += String(part)))
  return { client, received }
}

test('a client whose handshake is refused gets the answer, and sends nothing else to the application', async () => {
  const asked: unknown[] = []
  const { client, received } = await forwarded((request, response) => {
    asked.push([request.url, request.headers['x-forwarded-for']])
    response.writeHead(426, { 'X-Why': 'no socket' }).end('not here')
  })
  const second = 'GET /second HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n'
  const closed = once(client, 'close')
  client.write(`${HANDSHAKE}Content-Length: ${second.length}\r\n\r\n${second}`)
  client.once('data', () => client.write(second))
  await closed
  expect(received.text).toMatch(/^HTTP\/1\.1 426 Upgrade Required\r\n/)
  expect(received.text).toContain('X-Why: no socket\r\n')
  expect(received.text).toMatch(/\r\nConnection: close\r\n\r\nnot here$/)
  expect(asked).toEqual([['/socket', undefined]])
})

test('a client whose handshake is taken speaks with the application, first bytes included', async () => {
  const { client, received } = await forwarded(
    () => undefined,
    (socket, head) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nhello ')
      socket.write(head)
      socket.on('data', (part) => socket.end(part))
    },
  )
  client.write(`${HANDSHAKE}\r\n`)
  await expect.poll(() => received.text).toMatch(/^HTTP\/1\.1 101 [^]*\r\n\r\nhello $/)
  client.write('and back')
  await once(client, 'close')
  expect(received.text).toMatch(/hello and back$/)
})
