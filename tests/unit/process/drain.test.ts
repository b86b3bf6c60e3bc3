import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { connect, Socket, type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { drain } from '../../../src/server/process/drain.ts'
import { createReadiness } from '../../../src/server/process/readiness.ts'

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

/** As if each turn of the event loop accepted one. */
function connectWithoutEnd(server: Server): { stop(): void } {
  server.removeAllListeners('connection')
  const connecting = { going: true }
  const connect = (): void => {
    if (!connecting.going) return
    server.emit('connection', new Socket())
    setImmediate(connect)
  }
  connect()
  const stop = (): void => {
    connecting.going = false
  }
  onTestFinished(stop)
  return { stop }
}

test('requests that come in the last moment are answered once nobody can connect any more, in their order', async () => {
  const answered: { path: string | undefined; listening: boolean }[] = []
  const server = createServer(({ url }, response) => {
    answered.push({ path: url, listening: server.listening })
    response.end('served')
  })
  onTestFinished(() => server.closeAllConnections())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const paths = ['/0', '/1', '/2']
  const sockets: Socket[] = []
  while (sockets.length < paths.length) {
    const [socket] = await Promise.all([connected(port), once(server, 'connection')])
    sockets.push(socket)
  }

  const connecting = connectWithoutEnd(server)
  const config = { shutdownDelayMs: 0, shutdownGraceMs: 30_000 }
  const drained = drain({ server, readiness: createReadiness(), config })
  await wait(1) // the delay is over
  const arrived = { count: 0 }
  const note = (): void => {
    arrived.count += 1
    if (arrived.count === paths.length) connecting.stop()
  }
  subscribe('http.server.request.start', note)
  onTestFinished(() => void unsubscribe('http.server.request.start', note))
  const answers = paths.map((path, index) => {
    const socket = sockets[index] as Socket
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    return text(socket)
  })
  expect(await drained).toBe(true)
  expect((await Promise.all(answers)).every((answer) => answer.endsWith('served'))).toBe(true)
  expect(answered).toEqual(paths.map((path) => ({ path, listening: false })))
})

test('somebody who connects without end does not keep a server from ending', async () => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  connectWithoutEnd(server)
  await drain({ server, readiness: createReadiness(), config: { shutdownDelayMs: 0, shutdownGraceMs: 30_000 } })
  expect(server.listening).toBe(false)
})

test('half a request does not keep a server from ending in good order', async () => {
  const server = createServer({ connectionsCheckingInterval: 100 }, (_request, response) => void response.end('served'))
  onTestFinished(() => server.closeAllConnections())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const socket = await connected(port)
  socket.on('error', () => undefined)
  socket.write('GET / HT')
  const config = { shutdownDelayMs: 0, shutdownGraceMs: 30_000 }
  expect(await drain({ server, readiness: createReadiness(), config })).toBe(true)
})

test('an answer that never ends leaves a part of the grace to the application', async () => {
  const server = createServer(() => undefined)
  onTestFinished(() => server.closeAllConnections())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const socket = await connected(port)
  socket.on('error', () => undefined)
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await once(server, 'request')
  const config = { shutdownDelayMs: 0, shutdownGraceMs: 1_000 }
  const grace = AbortSignal.timeout(config.shutdownGraceMs)
  expect(await drain({ server, readiness: createReadiness(), config })).toBe(false)
  expect(grace.aborted).toBe(false)
})
