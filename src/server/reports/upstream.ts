/**
 * Sends envelopes to the service. Where they go is configured and nothing else: no envelope, no answer and no redirect
 * leads anywhere else.
 */
import { request as httpRequest, type ClientRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { createProxyAgents } from '../rules/proxy-agents.ts'
import { envelopeUrl, type Dsn } from './dsn.ts'

/** How long the service may let us wait for its answer, or for a further byte of one, in ms. */
const SILENCE_MS = 10_000
/** How long one delivery may take in all, in ms: 20 MiB at 700 kB a second. */
const DELIVERY_MS = 30_000
/** An answer's body is of no use to us; more of it than this ends the connection. */
const MOST_ANSWER_BYTES = 65_536
/** How this relay calls itself to the service. */
const CLIENT = 'millrace-relay/1.0'

/** What the service has said. */
export interface UpstreamAnswer {
  /** `unreachable`: no answer, or one that is none of the service's: a redirect. It is worth trying again. */
  readonly kind: 'answered' | 'unreachable'
  /** Set with `answered`. */
  readonly status?: number
  /** The `X-Sentry-Rate-Limits` header, as it came. */
  readonly rateLimits?: string
  /** The `Retry-After` header, as it came. With `unreachable`: seconds after which it is worth trying again. */
  readonly retryAfter?: string
  /** With `unreachable`: why, for the log. */
  readonly reason?: string
}

/** The way to the service. */
export interface Upstream {
  /**
   * Sends one envelope. Never rejects.
   * @param body an envelope, not compressed.
   * @param headers to go along; those of the delivery itself are added.
   * @param signal gives up when aborted: `unreachable`.
   */
  send(body: Buffer, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<UpstreamAnswer>
  /** Ends all connections. */
  dispose(): void
}

/** Bounds of a delivery, in ms; for tests. */
export interface UpstreamBounds {
  readonly silenceMs: number
  readonly deliveryMs: number
}

/**
 * What gives up the exchanges that are under way: a few. No `Set`, whose former tables lead to the next ones: once one of
 * them is old, requests that have long ended survive each collection of young objects.
 */
type Ending = (() => void)[]

function forget(ending: Ending, giveUp: () => void): void {
  const at = ending.indexOf(giveUp)
  if (at >= 0) ending.splice(at, 1)
}

/** Opens the way to the service of a DSN. No connection is made before the first envelope. */
export function createUpstream(
  dsn: Dsn,
  bounds: UpstreamBounds = { silenceMs: SILENCE_MS, deliveryMs: DELIVERY_MS },
): Upstream {
  const agents = createProxyAgents()
  const open = openerOf(envelopeUrl(dsn), agents, bounds.silenceMs)
  const own = [
    'content-type',
    'application/x-sentry-envelope',
    'x-sentry-auth',
    `Sentry sentry_version=7, sentry_client=${CLIENT}, sentry_key=${dsn.publicKey}`,
  ]
  const ownNames = new Set([
    'host',
    'connection',
    'content-length',
    'transfer-encoding',
    ...own.filter((_, at) => at % 2 === 0),
  ])
  /** What ends with a signal. One listener for all: the drainer hands over the same signal each time. */
  const underWay = new WeakMap<AbortSignal, Ending>()

  function endingWith(signal: AbortSignal): Ending {
    let ending = underWay.get(signal)
    if (ending === undefined) {
      const all: Ending = (ending = [])
      underWay.set(signal, all)
      signal.addEventListener(
        'abort',
        () => {
          for (const giveUp of all.splice(0)) giveUp()
        },
        { once: true },
      )
    }
    return ending
  }

  function send(
    body: Buffer,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
    reuse = true,
  ): Promise<UpstreamAnswer> {
    if (signal.aborted) return Promise.resolve({ kind: 'unreachable', reason: 'given up' })
    const sent = own.concat('content-length', String(body.length))
    for (const name in headers) if (!ownNames.has(name.toLowerCase())) sent.push(name, headers[name] ?? '')
    return exchange(open(sent, reuse), body, endingWith(signal), bounds).then((answer) =>
      // The service may have closed a kept connection a moment ago; it has then seen nothing of this envelope.
      answer === 'stale' ? send(body, headers, signal, false) : answer,
    )
  }

  return { send, dispose: () => agents.close() }
}

/** Makes what opens a request with a list of headers; the options are the same for all. */
function openerOf(target: URL, { http, https }: ReturnType<typeof createProxyAgents>, timeout: number) {
  const { protocol, hostname, port, host, pathname } = target
  const isSecure = protocol === 'https:'
  const options = {
    protocol,
    hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
    port,
    path: pathname,
    method: 'POST',
    timeout,
  }
  return (headers: readonly string[], reuse: boolean): ClientRequest => {
    const given = { ...options, headers: ['host', host, ...headers] }
    return isSecure
      ? httpsRequest({ ...given, agent: reuse ? https : false })
      : httpRequest({ ...given, agent: reuse ? http : false })
  }
}

function exchange(
  request: ClientRequest,
  body: Buffer,
  ending: Ending,
  { deliveryMs }: UpstreamBounds,
): Promise<UpstreamAnswer | 'stale'> {
  const { promise, resolve } = Promise.withResolvers<UpstreamAnswer | 'stale'>()
  const settle = (answer: UpstreamAnswer | 'stale'): void => {
    clearTimeout(deadline)
    forget(ending, giveUp)
    resolve(answer)
  }
  const fail = (reason: string): void => {
    settle({ kind: 'unreachable', reason })
    request.destroy()
  }
  const giveUp = (): void => fail('given up')
  const deadline = setTimeout(() => fail('time-out'), deliveryMs)
  ending.push(giveUp)

  request.once('timeout', () => fail('time-out'))
  request.on('error', (error: NodeJS.ErrnoException) => {
    const dropped = error.code === 'ECONNRESET' || error.code === 'EPIPE'
    if (request.reusedSocket && dropped) settle('stale')
    else fail(error.code ?? 'connection failed')
  })
  request.once('close', () => fail('connection closed'))
  request.once('response', (response) => {
    const status = response.statusCode ?? 0
    const { 'x-sentry-rate-limits': rateLimits, 'retry-after': retryAfter } = response.headers
    const answer: UpstreamAnswer = {
      kind: 'answered',
      status,
      ...(typeof rateLimits === 'string' ? { rateLimits } : {}),
      ...(retryAfter === undefined ? {} : { retryAfter }),
    }
    let received = 0
    response.on('data', (chunk: Buffer) => {
      received += chunk.length
      if (received > MOST_ANSWER_BYTES) response.destroy()
    })
    response.on('error', () => undefined)
    // The verdict stands in the head; the body only has to be out of the way.
    settle(status >= 300 && status < 400 ? { kind: 'unreachable', reason: `redirect ${status}` } : answer)
  })
  request.end(body)
  return promise
}
