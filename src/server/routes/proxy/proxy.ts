/**
 * Forwards a request to another origin and its answer back. Both bodies stream at the pace of their reader; if one side
 * disconnects, the other is closed. One request makes one upstream request, framed again from the result of Node's
 * parser, so the two servers cannot disagree on where it ends.
 */
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { BodyError } from '../../http/body/body-error.ts'
import { dropBody } from '../../http/body/drop-body.ts'
import { parsedBody } from '../../http/body/parsed-body.ts'
import type { BodyFraming } from './proxy-headers.ts'
import type { ProxyFailure, ProxyOptions } from './proxy-options.ts'
import { openUpstream } from './open-upstream.ts'
import { createPatience } from './patience.ts'
import { breakOff, relayAnswer, sendFailure } from './proxy-answer.ts'
import { bodyFraming, upstreamHeaders } from './proxy-headers.ts'
import { watchPace } from './watch-pace.ts'

/** Methods that may be repeated if a keep-alive connection turns out to be dead (RFC 9110, section 9.2.2). */
const REPEATABLE = ['GET', 'HEAD', 'OPTIONS']

interface Exchange {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly target: URL
  readonly framing: BodyFraming
  /** The body, if a parser in front has read it. */
  readonly parsed: Buffer | undefined
  readonly options: ProxyOptions
}

/**
 * Answers a request with the answer of another origin: 502 if it is unreachable or invalid, 504 if it is too slow, 501
 * for a body in a coding that cannot be forwarded, 500 for one that a parser in front has read and not kept.
 * @param target scheme, host, path and query of the upstream request; its credentials and hash are ignored.
 * @returns settles when the answer is sent or the visitor has disconnected; never rejects.
 */
export async function proxyRequest(
  req: IncomingMessage,
  res: ServerResponse,
  target: URL,
  options: ProxyOptions,
): Promise<void> {
  let parsed: Buffer | undefined
  try {
    parsed = parsedBody(req)
  } catch (cause) {
    const status = cause instanceof BodyError ? cause.status : 500
    sendFailure(req, res, status, options.forwarded)
    options.onFailure?.({ status, reason: 'bad-request', cause })
    return
  }
  const framing = parsed === undefined ? bodyFraming(req.headers) : lengthOf(parsed)
  if (framing.kind === 'unsupported') {
    sendFailure(req, res, 501, options.forwarded)
    options.onFailure?.({ status: 501, reason: 'bad-request' })
    return
  }
  const exchange = { req, res, target, framing, parsed, options }
  // The other side may just have closed a keep-alive connection. A request that cannot be repeated gets a new one.
  const repeatable = framing.kind === 'none' && REPEATABLE.includes(req.method ?? '')
  const outcome = await runExchange(exchange, repeatable)
  if (outcome === 'stale') await runExchange(exchange, false)
}

function lengthOf(body: Buffer): BodyFraming {
  return { kind: 'length', length: String(body.length) }
}

/** @returns `stale` if a keep-alive connection was dead before any answer; nothing has been answered then. */
function runExchange(exchange: Exchange, reuseConnection: boolean): Promise<'settled' | 'stale'> {
  const { req, res, target, options } = exchange
  const { promise, resolve } = Promise.withResolvers<'settled' | 'stale'>()
  if (res.destroyed || options.signal?.aborted) {
    res.destroy()
    return Promise.resolve('settled')
  }
  const upstream = openUpstream(target, {
    method: req.method ?? 'GET',
    headers: headersOf(exchange),
    agents: reuseConnection ? options.agents : undefined,
  })
  const state = { settled: false, connected: false, answered: false }
  const patience = createPatience(options.timeoutMs, upstreamOwes, () => fail({ status: 504, reason: 'time-out' }))

  upstream.once('socket', (socket) => {
    const connected = (): void => {
      state.connected = true
      patience.renew()
    }
    if (socket.connecting) socket.once('connect', connected)
    else connected()
  })
  upstream.once('response', (answer) => {
    state.answered = true
    patience.renew()
    const cutOff = (cause: Error): void => fail({ status: 502, reason: 'cut-off', cause })
    if (!relayAnswer(answer, res, options.forwarded, { done: settle, cutOff }))
      return fail({ status: 502, reason: 'bad-answer' })
    answer.on('data', patience.renew)
  })
  upstream.on('error', (cause: NodeJS.ErrnoException) => {
    if (state.answered) return
    if (upstream.reusedSocket && (cause.code === 'ECONNRESET' || cause.code === 'EPIPE')) return settleAs('stale')
    fail({ status: 502, reason: cause.code?.startsWith('HPE_') ? 'bad-answer' : 'unreachable', cause })
  })
  // Node ends the connection without an error if the answer switches protocols unasked.
  upstream.once('close', () => {
    if (!state.answered) fail({ status: 502, reason: 'bad-answer' })
  })
  const abort = (): void => {
    settle()
    res.destroy()
  }
  res.once('close', settle)
  options.signal?.addEventListener('abort', abort, { once: true })
  sendBody(exchange, upstream, patience.renew)
  const unwatch = exchange.framing.kind === 'none' || exchange.parsed !== undefined ? undefined : watch()
  return promise

  function watch(): () => void {
    const isAwaited = (): boolean => !state.answered && !req.complete && !upstreamOwes()
    return watchPace(req, upstream, { isAwaited, tooSlow })
  }

  function tooSlow(): void {
    if (state.settled || state.answered) return
    settle()
    dropBody(req, res)
    sendFailure(req, res, 408, options.forwarded)
  }

  /** Whether the upstream, not the visitor, must act. */
  function upstreamOwes(): boolean {
    if (state.answered) return !res.writableNeedDrain
    return !state.connected || upstream.writableEnded || upstream.writableNeedDrain
  }

  function fail(failure: ProxyFailure): void {
    if (state.settled) return
    settle()
    if (res.headersSent) breakOff(req, res)
    else sendFailure(req, res, failure.status, options.forwarded)
    options.onFailure?.(failure)
  }

  function settle(): void {
    settleAs('settled')
  }

  function settleAs(outcome: 'settled' | 'stale'): void {
    if (state.settled) return
    state.settled = true
    patience.stop()
    unwatch?.()
    res.off('close', settle)
    options.signal?.removeEventListener('abort', abort)
    // Has no effect on a connection that a complete exchange has returned to its agent.
    upstream.destroy()
    resolve(outcome)
  }
}

function headersOf({ req, target, framing, parsed, options }: Exchange): OutgoingHttpHeaders {
  const headers = upstreamHeaders(req, target, framing, options.forwarded)
  // Parsers decompress.
  if (parsed !== undefined) delete headers['content-encoding']
  return headers
}

function sendBody({ req, framing, parsed }: Exchange, upstream: ClientRequest, renew: () => void): void {
  if (parsed !== undefined) {
    upstream.end(parsed)
    return
  }
  if (framing.kind === 'none') {
    upstream.end()
    return
  }
  upstream.on('drain', renew)
  req.on('data', renew)
  req.pipe(upstream)
  upstream.once('close', () => {
    req.off('data', renew)
    req.unpipe(upstream)
    // The rest of a body that nobody reads any more.
    req.resume()
  })
}
