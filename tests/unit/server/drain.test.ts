import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { drain } from '../../../src/server/ops/drain.ts'
import { createReadiness } from '../../../src/server/ops/readiness.ts'

const CLIENTS = 50 // the event loop accepts one each time it goes round

async function connected(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

test('connections that the system has taken before the end are served, though nobody has accepted them yet', async () => {
  const server = createServer((_request, response) => void response.end('served'))
  onTestFinished(() => server.closeAllConnections())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo

  const sockets = await Promise.all(Array.from({ length: CLIENTS }, () => connected(port)))
  const answers = sockets.map((socket) => {
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
    return text(socket).catch(() => 'reset')
  })

  const config = { shutdownDelayMs: 0, shutdownGraceMs: 30_000 }
  expect(await drain({ server, readiness: createReadiness(), config })).toBe(true)
  const served = (await Promise.all(answers)).filter((answer) => answer.endsWith('served'))
  expect(served).toHaveLength(CLIENTS)
})
