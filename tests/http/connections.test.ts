/** What one client can take of the connections of a server. All of 127.0.0.0/8 is this machine: each address is a client. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { serveMetrics } from '../../src/server/process/metrics/serve-metrics.ts'
import { shareConnections } from '../../src/server/process/share-connections.ts'
import { parseProxyTrust, TRUST_NOBODY, type ProxyTrust } from '../../src/server/http/trusted-proxy.ts'

const [GREEDY, HONEST, OTHER, NEWCOMER] = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5']

/** Connects, and says nothing. */
async function dial(port: number, localAddress: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  await new Promise<void>((settled) => socket.once('connect', () => settled()).once('close', () => settled()))
  return socket
}

/** Of connections that say nothing, those that stay. */
async function staying(port: number, address: string, count: number): Promise<readonly Socket[]> {
  const sockets: Socket[] = []
  for (let at = 0; at < count; at += 1) sockets.push(await dial(port, address))
  // One that is refused is closed before this one is answered.
  await Promise.all(sockets.map((socket) => (socket.closed ? undefined : statusOn(socket))))
  return sockets.filter(({ closed }) => !closed)
}

/** The status that a connection gets, which then stays open; `undefined` where it was closed. */
async function statusOn(socket: Socket): Promise<number | undefined> {
  if (socket.closed) return undefined
  const answered = new Promise<readonly unknown[]>((settled) => {
    socket.once('data', (bytes) => settled([bytes])).once('close', () => settled([]))
  })
  socket.write('GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n')
  const [bytes] = await answered
  return Buffer.isBuffer(bytes) ? Number(/^HTTP\/1.1 (\d+)/.exec(bytes.toString('latin1'))?.[1]) : undefined
}

async function sharing(trustProxy: ProxyTrust, onGreedy?: (client: string) => void): Promise<number> {
  const server: Server = createServer((_req, res) => res.end('ok'))
  server.maxConnections = 8
  shareConnections(server, { trustProxy, onGreedy })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

describe('connections', () => {
  test('of one client are half of all at most, and the others get theirs', async () => {
    const told: string[] = []
    const port = await sharing(TRUST_NOBODY, (client) => told.push(client))
    expect(await staying(port, GREEDY, 8)).toHaveLength(4)
    expect(await staying(port, HONEST, 3)).toHaveLength(2)
    // Half of what is left: three clients leave something for the next one.
    expect(await staying(port, OTHER, 3)).toHaveLength(1)
    expect(await staying(port, NEWCOMER, 3)).toHaveLength(1)
    expect(new Set(told)).toEqual(new Set([GREEDY]))
  })

  test('are given back when they close', async () => {
    const port = await sharing(TRUST_NOBODY)
    for (const socket of await staying(port, GREEDY, 8)) {
      socket.destroy()
      await once(socket, 'close')
    }
    await expect.poll(() => staying(port, GREEDY, 4).then((kept) => kept.length)).toBe(4)
  })

  test('of a proxy that is named are those of many clients', async () => {
    const port = await sharing(parseProxyTrust([GREEDY]))
    expect(await staying(port, GREEDY, 8)).toHaveLength(8)
  })

  test('to the metrics are shared, too: one scraper that keeps all it can get leaves some to the next', async () => {
    const port = await serveMetrics({
      config: { host: '127.0.0.1', metricsPort: 0 },
      text: () => Promise.resolve('a 1\n'),
    })
    expect(await staying(port, GREEDY, 16)).toHaveLength(8)
    expect(await statusOn(await dial(port, HONEST))).toBe(200)
  })
})
