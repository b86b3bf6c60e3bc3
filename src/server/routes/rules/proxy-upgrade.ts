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

/** How a WebSocket is passed on. */
export interface ProxyUpgradeOptions extends ProxyOptions {
  /** How long a tunnel may carry nothing, in ms; 2 minutes unless told, which is past the usual pings. */
  readonly idleMs?: number
  /** The answer, where one is on the connection already (`responseOn`). */
  readonly res?: ServerResponse
  /** Told when the upstream has accepted: there will be no answer. */
  readonly onSwitch?: () => void
}

const IDLE_MS = 120_000

/**
 * Passes the handshake of a WebSocket on to another origin. When the upstream accepts, bytes go both ways until one
 * side ends; when it refuses, its answer is the answer. Other protocols get 501: nothing here knows their first bytes.
 * @returns settled when the visitor's connection is closed; never rejects.
 */
export async function proxyUpgrade(
  req: IncomingMessage,
  { socket, head }: PendingUpgrade,
  target: URL,
  options: ProxyUpgradeOptions,
): Promise<void> {
  // A visitor who resets the connection has left; the rest is done where it closes.
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
  /** Middleware has lost patience: what the upstream says now comes too late. */
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
  upstream.once('upgrade', (answer, upstreamSocket, upstreamHead) => {
    patience.stop()
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
    joinStreams(socket, upstreamSocket, options.idleMs ?? IDLE_MS)
  })
  upstream.once('response', (answer) => {
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

/** Whether a request asks for a WebSocket in the one way there is. What it has behind its head is no body then. */
export function isHandshake(req: IncomingMessage): boolean {
  return req.method === 'GET' && asksForWebSocket(req) && bodyFraming(req.headers).kind === 'none'
}

function asksForWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket'
}

/** An ordinary answer on a connection that has left the server's care; the connection ends with it. */
export function responseOn(
  req: IncomingMessage,
  socket: Duplex,
  Response: typeof ServerResponse<IncomingMessage> = ServerResponse,
): ServerResponse {
  const res = new Response(req)
  res.shouldKeepAlive = false
  // The server's `upgrade` event types its socket as any stream; it is the connection.
  res.assignSocket(socket as Socket)
  // The server would do both for a connection of its own.
  socket.on('drain', () => res.emit('drain'))
  res.once('finish', () => socket.end(() => socket.destroy()))
  return res
}

/**
 * As `responseOn`.
 * @returns `undefined` where the answer to an earlier request is still going out on the connection.
 */
export function tryResponseOn(...given: Parameters<typeof responseOn>): ServerResponse | undefined {
  try {
    return responseOn(...given)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_HTTP_SOCKET_ASSIGNED') return undefined
    throw error
  }
}

/** Whoever still answers, such as middleware that limits how long a request takes, would write into the other protocol. */
function silence(res: ServerResponse, socket: Duplex): void {
  res.detachSocket(socket as Socket)
  // Node says so for an answer that has a socket.
  socket.once('close', () => res.destroy().emit('close'))
}

function switchingHead(answer: IncomingMessage): string {
  const lines = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', 'Upgrade: websocket']
  for (const [name, values] of answerHeaders(answer)) for (const value of values) lines.push(`${name}: ${value}`)
  return `${lines.join('\r\n')}\r\n\r\n`
}
