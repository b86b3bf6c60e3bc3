import { ServerResponse } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { PendingUpgrade } from './pending-upgrade.ts'
import type { ProxyFailure, ProxyOptions } from './proxy-options.ts'
import { openUpstream } from './open-upstream.ts'
import { createPatience } from './patience.ts'
import { breakOff, relayAnswer, sendFailure } from './proxy-answer.ts'
import { answerHeaders, bodyFraming, upstreamHeaders } from './proxy-headers.ts'
import { joinStreams } from './join-streams.ts'

/** Options for forwarding a WebSocket. */
interface ProxyUpgradeOptions extends ProxyOptions {
  /** Longest silence of a tunnel, in ms; default: 2 minutes, longer than usual ping intervals. */
  readonly idleMs?: number
  /** The answer, if the connection already has one (`responseOn`). */
  readonly res?: ServerResponse
  /** Called when the upstream has accepted: there will be no answer. */
  readonly onSwitch?: () => void
}

const IDLE_MS = 120_000
const MOST_EARLY_BYTES = 65_536 // before the upstream's answer, clients have no reason to send any

/**
 * Forwards a WebSocket handshake to another origin. If the upstream accepts, bytes flow both ways until one side ends;
 * if it refuses, its answer is forwarded. Other protocols get 501, because their first bytes are unknown here.
 * @returns settles when the visitor's connection is closed; never rejects.
 */
export async function proxyUpgrade(
  req: IncomingMessage,
  { socket, head }: PendingUpgrade,
  target: URL,
  options: ProxyUpgradeOptions,
): Promise<void> {
  // A visitor's reset is handled by the `close` event.
  socket.on('error', () => socket.destroy())
  if (socket.destroyed || options.signal?.aborted) {
    socket.destroy()
    return
  }
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  const abort = (): void => void socket.destroy()
  options.signal?.addEventListener('abort', abort, { once: true })
  startHandshake(req, { socket, head }, target, options)
  await closed
  options.signal?.removeEventListener('abort', abort)
}

function startHandshake(
  req: IncomingMessage,
  { socket, head }: PendingUpgrade,
  target: URL,
  options: ProxyUpgradeOptions,
): void {
  const framing = bodyFraming(req.headers)
  const state = { answered: false }
  /** Middleware has timed out: the upstream's answer is too late. */
  const isAnsweredByOthers = (): boolean => !state.answered && options.res?.headersSent === true
  const answerOn = (): ServerResponse => options.res ?? responseOn(req, socket)
  if (!asksForWebSocket(req)) return fail({ status: 501, reason: 'bad-request' })
  if (req.method !== 'GET' || framing.kind !== 'none') return fail({ status: 400, reason: 'bad-request' })

  const headers = upstreamHeaders(req, target, framing, options.forwarded)
  headers['connection'] = 'Upgrade'
  headers['upgrade'] = 'websocket'
  const upstream = openUpstream(target, { method: 'GET', headers })
  const upstreamOwes = (): boolean => true
  const patience = createPatience(options.timeoutMs, upstreamOwes, () => {
    upstream.destroy()
    fail({ status: 504, reason: 'time-out' })
  })
  socket.once('close', () => {
    patience.stop()
    upstream.destroy()
  })
  const early = readEarly(socket)
  upstream.once('upgrade', (answer, upstreamSocket, upstreamHead) => {
    patience.stop()
    const earlyBytes = early.stop()
    if (state.answered || socket.destroyed || isAnsweredByOthers()) return void upstreamSocket.destroy()
    if (!asksForWebSocket(answer)) {
      upstreamSocket.destroy()
      return fail({ status: 502, reason: 'bad-answer' })
    }
    state.answered = true
    if (options.res) silence(options.res, socket)
    options.onSwitch?.()
    socket.write(switchingHead(answer))
    socket.write(upstreamHead)
    upstreamSocket.write(head)
    for (const bytes of earlyBytes) upstreamSocket.write(bytes)
    joinStreams(socket, upstreamSocket, options.idleMs ?? IDLE_MS)
  })
  upstream.once('response', (answer) => {
    early.stop()
    if (state.answered) return
    if (isAnsweredByOthers()) return void upstream.destroy()
    patience.renew()
    answer.on('data', patience.renew)
    const res = answerOn()
    state.answered = relayAnswer(answer, res, options.forwarded, { done: patience.stop, cutOff })
    if (state.answered) return
    upstream.destroy()
    fail({ status: 502, reason: 'bad-answer' }, res)

    function cutOff(cause: Error): void {
      if (socket.destroyed) return
      breakOff(req, res)
      options.onFailure?.({ status: 502, reason: 'cut-off', cause })
    }
  })
  upstream.on('error', (cause) => fail({ status: 502, reason: 'unreachable', cause }))
  upstream.end()

  function fail(failure: ProxyFailure, res?: ServerResponse): void {
    if (socket.destroyed || isAnsweredByOthers() || (state.answered && failure.reason !== 'time-out')) return
    if (state.answered) socket.destroy()
    else sendFailure(req, res ?? answerOn(), failure.status, options.forwarded)
    state.answered = true
    options.onFailure?.(failure)
  }
}

/** Reads a connection until the upstream has answered: whoever has left would be noticed at the first write only. */
function readEarly(socket: Duplex): { stop(): readonly Buffer[] } {
  const read: Buffer[] = []
  let size = 0
  const onData = (bytes: Buffer): void => {
    read.push(bytes)
    size += bytes.length
    if (size > MOST_EARLY_BYTES) socket.destroy()
  }
  const onEnd = (): void => void socket.destroy()
  socket.on('data', onData).once('end', onEnd)
  return {
    stop() {
      socket.pause().off('data', onData).off('end', onEnd)
      return read
    },
  }
}

/** Whether a request is a valid WebSocket handshake. Bytes after its headers are then not a body. */
export function isHandshake(req: IncomingMessage): boolean {
  return req.method === 'GET' && asksForWebSocket(req) && bodyFraming(req.headers).kind === 'none'
}

function asksForWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket'
}

/** An ordinary answer on a connection that Node's server has released; the connection ends with it. */
function responseOn(
  req: IncomingMessage,
  socket: Duplex,
  Response: typeof ServerResponse<IncomingMessage> = ServerResponse,
): ServerResponse {
  const res = new Response(req)
  res.shouldKeepAlive = false
  // The server's `upgrade` event types its socket as a stream; it is the connection.
  res.assignSocket(socket as Socket)
  // The server does both for its own connections.
  socket.on('drain', () => res.emit('drain'))
  res.once('finish', () => socket.end(() => socket.destroy()))
  return res
}

/**
 * As `responseOn`.
 * @returns `undefined` if the answer to an earlier request is still being sent on the connection.
 */
export function tryResponseOn(...given: Parameters<typeof responseOn>): ServerResponse | undefined {
  try {
    return responseOn(...given)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_HTTP_SOCKET_ASSIGNED') return undefined
    throw error
  }
}

/** Later writes to the answer, such as those of a timeout middleware, would corrupt the other protocol. */
function silence(res: ServerResponse, socket: Duplex): void {
  res.detachSocket(socket as Socket)
  // Node emits this for an answer that has a socket.
  socket.once('close', () => res.destroy().emit('close'))
}

function switchingHead(answer: IncomingMessage): string {
  const lines = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', 'Upgrade: websocket']
  for (const [name, values] of answerHeaders(answer)) for (const value of values) lines.push(`${name}: ${value}`)
  return `${lines.join('\r\n')}\r\n\r\n`
}
