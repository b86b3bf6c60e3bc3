/** What one client can make the server parse in one round of the event loop. All of 127.0.0.0/8 is this machine. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { joinSmallChunks } from '../../src/server/http/body/join-small-chunks.ts'
import { watchNameless } from '../../src/server/http/parsed-work.ts'
import { TRUST_NOBODY } from '../../src/server/http/trusted-proxy.ts'
import { limitConnections } from '../../src/server/process/limit-connections.ts'
import { shareConnections } from '../../src/server/process/share-connections.ts'
import { createRequestQueue } from '../../src/server/request/admission/request-queue.ts'

const [GREEDY, HONEST] = ['127.0.0.2', '127.0.0.3']
const REQUEST = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'
const DEPTH = 300
/** Less than `DEPTH` requests may wait. */
const MOST_BYTES = 262_144
const CONNECTIONS = 12
/** Node's channel for requests, whatever becomes of them. */
const EACH_REQUEST = 'http.server.request.start'

/** A server that notes how many requests of `GREEDY` it parses in each round of the event loop. */
async function floodedServer() {
  const parsed: number[] = [0]
  const chunks = new Map<number, number>()
  let isOver = false
  const nextRound = (): void => {
    if (parsed.at(-1) !== 0 || chunks.has(parsed.length)) parsed.push(0)
    if (!isOver) setImmediate(nextRound)
  }
  const queue = createRequestQueue({
    trustProxy: TRUST_NOBODY,
    addressOf: ({ socket }) => socket.remoteAddress ?? '',
    most: MOST_BYTES,
  })
  const peers = new Map<Socket, string>()
  const count = (message: unknown): void => {
    const { socket } = message as { readonly socket: Socket }
    if (peers.get(socket) === GREEDY) parsed[parsed.length - 1] = (parsed.at(-1) ?? 0) + 1
  }
  const countChunks = (req: IncomingMessage): void => {
    joinSmallChunks(req)
    const push = req.push.bind(req)
    req.push = (...given) => {
      chunks.set(parsed.length, (chunks.get(parsed.length) ?? 0) + 1)
      return push(...given)
    }
  }
  const server = createServer((req, res) => {
    countChunks(req)
    queue.oneAtATime(req, res, () => req.resume().on('end', () => res.end('ok')))
  })
  server.on('connection', (socket: Socket) => peers.set(socket, socket.remoteAddress ?? ''))
  server.maxConnections = 1_000
  shareConnections(server, { trustProxy: TRUST_NOBODY })
  limitConnections(server)
  watchNameless()
  subscribe(EACH_REQUEST, count)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  nextRound()
  onTestFinished(() => {
    isOver = true
    unsubscribe(EACH_REQUEST, count)
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { parsed, chunks, accepted: () => peers.size, dial: (localAddress: string) => dial(port, localAddress) }
}

async function dial(port: number, localAddress: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  return socket
}

async function ask(socket: Socket, text = REQUEST): Promise<string> {
  socket.write(text)
  const [bytes] = (await once(socket, 'data')) as [Buffer]
  return bytes.toString('latin1')
}

function closed(socket: Socket): Promise<void> {
  return new Promise((settled) => {
    if (socket.closed) settled()
    else socket.once('close', () => settled())
  })
}

/** So that all has arrived before the server reads any. */
function holdRound(): void {
  const until = performance.now() + 100
  while (performance.now() < until);
}

const REQUESTS = REQUEST.repeat(DEPTH)

function flood(sockets: readonly Socket[], text = REQUESTS): Promise<unknown> {
  for (const socket of sockets) socket.resume().write(text)
  holdRound()
  return Promise.all(sockets.map(closed))
}

const FLOODS = {
  'what Node refuses by itself': 'GET / HTTP/1.1\r\n\r\n'.repeat(DEPTH),
  'too much to wait': REQUESTS,
  'what is refused before it is read': REQUEST.replace('\r\n\r\n', '\r\nExpect: x\r\n\r\n').repeat(DEPTH),
  'something malformed at the end': `${REQUESTS}BAD\0\r\n\r\n`,
} as const

describe.for(['new', 'used'] as const)('of many %s connections', (kind) => {
  test.for(Object.entries(FLOODS))('that send %s, one is read in a round', async ([, text]) => {
    const { parsed, dial } = await floodedServer()
    const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => dial(GREEDY)))
    if (kind === 'used') for (const socket of sockets) await ask(socket)
    const [idle, honest] = [await dial(GREEDY), await dial(HONEST)]
    parsed.length = 0
    parsed.push(0)

    const flooded = flood(sockets, text)
    expect(await ask(honest)).toContain(' 200 ')
    // What is left of the first one, and the next one.
    expect(Math.max(...parsed)).toBeLessThanOrEqual(2 * DEPTH)
    await flooded
    expect(Math.max(...parsed)).toBeLessThanOrEqual(2 * DEPTH)
    expect(parsed.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(DEPTH * (CONNECTIONS - 1))
    // One that has sent nothing wrong goes on, as before.
    expect(await ask(idle)).toContain(' 200 ')
    expect(await ask(idle)).toContain(' 200 ')
  })
})

test('of many connections with bodies in chunks of one byte, no more is read in a round than of one', async () => {
  const { chunks, dial } = await floodedServer()
  const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => dial(GREEDY)))
  for (const socket of sockets) await ask(socket)
  const honest = await dial(HONEST)
  const head = 'POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n'
  const body = '1\r\na\r\n'.repeat(10_000)
  const answers = sockets.map((socket) => ask(socket, `${head}${body}0\r\n\r\n`))
  holdRound()
  expect(await ask(honest)).toContain(' 200 ')
  for (const answer of await Promise.all(answers)) expect(answer).toContain(' 200 ')
  expect([...chunks.values()].reduce((sum, count) => sum + count, 0)).toBeGreaterThan(CONNECTIONS * 10_000)
  expect(Math.max(...chunks.values())).toBeLessThan(2 * 10_000)
})

test('of connections that their client has reset, nothing is read before its address is known', async () => {
  const { parsed, dial } = await floodedServer()
  const honest = await dial(HONEST)
  for (let at = 0; at < CONNECTIONS; at += 1) {
    const socket = connect({ port: honest.remotePort ?? 0, host: '127.0.0.1', localAddress: GREEDY })
    await once(socket, 'connect')
    socket.write(REQUESTS)
    socket.resetAndDestroy()
  }
  holdRound()
  expect(await ask(honest)).toContain(' 200 ')
  expect(Math.max(...parsed)).toBeLessThanOrEqual(2 * DEPTH)
})

test('connections that are opened while others wait to be read wait behind them', async () => {
  const { parsed, accepted, dial } = await floodedServer()
  const first = await Promise.all(Array.from({ length: CONNECTIONS }, () => dial(GREEDY)))
  const flooded = flood(first)
  const later = await Promise.all(Array.from({ length: CONNECTIONS }, () => dial(GREEDY)))
  await vi.waitUntil(() => accepted() === first.length + later.length, { interval: 1 })
  await Promise.all([flooded, flood(later)])
  expect(Math.max(...parsed)).toBeLessThanOrEqual(2 * DEPTH)
})

test('a body that arrives while its connection waits is whole', async () => {
  const { dial } = await floodedServer()
  const upload = await dial(GREEDY)
  const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => dial(GREEDY)))
  const text = 'x'.repeat(200_000)
  upload.write(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${text.length}\r\n\r\n${text.slice(0, 1_000)}`)
  const flooded = flood(sockets)
  // The rest of the body, and a second request, which is understood only if all of the body was.
  expect(await ask(upload, text.slice(1_000) + REQUEST)).toContain(' 200 ')
  await flooded
  expect(await ask(upload)).toContain(' 200 ')
})
