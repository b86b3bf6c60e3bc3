import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { createServer as createNetServer } from 'node:net'
import type { IncomingMessage, RequestListener, Server as HttpServer, ServerResponse } from 'node:http'
import type { AddressInfo, Server, Socket } from 'node:net'
import type { Forwarded } from '../../src/server/routes/proxy/proxy-headers.ts'
import type { ProxyFailure } from '../../src/server/routes/proxy/proxy-options.ts'
import { createProxyAgents } from '../../src/server/routes/proxy/proxy-agents.ts'
import { proxyUpgrade } from '../../src/server/routes/proxy/proxy-upgrade.ts'
import { proxyRequest } from '../../src/server/routes/proxy/proxy.ts'

/** What the proxy under test says of the visitor. */
const FORWARDED: Forwarded = { for: '203.0.113.7', proto: 'https', host: 'shop.test:8443' }

/** How long the proxy under test waits; tests that reach it turn the clock themselves. */
export const TIMEOUT_MS = 5_000
export const IDLE_MS = 60_000

/** A server on loopback that goes with the test. */
interface Listening extends AsyncDisposable {
  readonly port: number
  /** Connections it has accepted so far. */
  readonly connections: readonly Socket[]
}

/** An upstream that speaks HTTP. */
export function httpUpstream(answer: RequestListener): Promise<Listening> {
  return listen(createHttpServer(answer))
}

/** An upstream made of bare bytes. */
export function rawUpstream(connected: (socket: Socket) => void): Promise<Listening> {
  return listen(createNetServer({ allowHalfOpen: true }, connected))
}

/** A port that nobody listens on. */
export async function deadPort(): Promise<number> {
  await using server = await rawUpstream(() => undefined)
  return server.port
}

/** A server that passes everything on to one upstream. */
interface ProxyUnderTest extends Listening {
  readonly failures: readonly ProxyFailure[]
  /** Aborts what is in progress. */
  readonly abort: () => void
  /** The answers it is giving or has given. */
  readonly answers: readonly ServerResponse[]
  /** Settled when all that was passed on is over. */
  readonly over: () => Promise<unknown>
}

/** @param credentials stand in the target's URL before its host. */
export async function startProxy(upstreamPort: number, credentials = ''): Promise<ProxyUnderTest> {
  const agents = createProxyAgents()
  const failures: ProxyFailure[] = []
  const answers: ServerResponse[] = []
  const running: Promise<void>[] = []
  const ending = new AbortController()
  const options = {
    timeoutMs: TIMEOUT_MS,
    idleMs: IDLE_MS,
    forwarded: FORWARDED,
    agents,
    signal: ending.signal,
    onFailure: (failure: ProxyFailure) => void failures.push(failure),
  }
  const targetOf = (req: IncomingMessage) => new URL(`http://${credentials}127.0.0.1:${upstreamPort}${req.url}`)
  const server = createHttpServer((req, res) => {
    answers.push(res)
    running.push(proxyRequest(req, res, targetOf(req), options))
  })
  server.maxHeadersCount = 100
  server.on('upgrade', (req, socket, head) => {
    running.push(proxyUpgrade(req, { socket, head }, targetOf(req), options))
  })
  const listening = await listen(server)
  return {
    ...listening,
    failures,
    answers,
    abort: () => ending.abort(),
    over: () => Promise.all(running),
    async [Symbol.asyncDispose]() {
      agents.close()
      await listening[Symbol.asyncDispose]()
    },
  }
}

async function listen(server: HttpServer | Server): Promise<Listening> {
  const connections: Socket[] = []
  server.on('connection', (socket: Socket) => {
    connections.push(socket)
    socket.on('error', () => undefined)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    connections,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of connections) socket.destroy()
      await closed
    },
  }
}

/** A body as text. */
export async function bodyOf(message: IncomingMessage): Promise<string> {
  message.setEncoding('latin1')
  let text = ''
  for await (const piece of message) text += String(piece)
  return text
}

/** Lets the event loop turn until a condition holds. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve))
}

const QUIET_TURNS = 500

/** Lets the event loop turn until a number has stopped changing. */
export async function quiet(measure: () => number): Promise<void> {
  let before = Number.NaN
  for (let turns = 0; turns < QUIET_TURNS; turns += 1) {
    const now = measure()
    if (now !== before) turns = 0
    before = now
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** A request as an upstream got it. */
interface Received {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** An upstream that writes down what it gets, and a proxy before it. */
export async function recorded(
  answer: (req: IncomingMessage, res: ServerResponse) => void = (_, res) => void res.end('ok'),
): Promise<AsyncDisposable & { proxy: ProxyUnderTest; upstream: Listening; received: Received[] }> {
  const received: Received[] = []
  const upstream = await httpUpstream(async (req, res) => {
    const { method, url, headers } = req
    received.push({ method, url, headers, body: await bodyOf(req) })
    answer(req, res)
  })
  return { ...(await behind(upstream)), received }
}

/** A proxy before an upstream; both end with the test. */
export async function behind(upstream: Listening) {
  const proxy = await startProxy(upstream.port)
  return {
    proxy,
    upstream,
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]()
      await upstream[Symbol.asyncDispose]()
    },
  }
}

/** An upstream that answers each connection with fixed bytes. */
export async function answering(bytes: string) {
  return behind(await rawUpstream((socket) => socket.once('data', () => socket.write(bytes, 'latin1'))))
}
