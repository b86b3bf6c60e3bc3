// oxlint-disable-next-line typescript/triple-slash-reference -- an ambient module cannot be imported by its file
/// <reference path="./undici-pool.d.ts" />
/**
 * Sends envelopes to the service. Only the configuration decides the destination: no envelope, answer or redirect can
 * change it.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Dispatcher, Pool } from 'undici'
import { envelopeUrl, type Dsn } from '../../config/dsn.ts'

/** Longest silence of the service before its answer, or between two bytes of it, in ms. */
const SILENCE_MS = 10_000
/** Longest duration of one delivery, in ms: 20 MiB at 700 kB a second. */
const DELIVERY_MS = 30_000
/** We do not use the answer's body; a larger one ends the connection. */
const MOST_ANSWER_BYTES = 65_536
/** Shorter than the usual 5 s of servers, so that our side closes idle connections first. */
const IDLE_MS = 4_000
/** The relay's name in its requests to the service. */
const CLIENT = 'millrace-relay/1.0'

/** Answer of the service. */
export interface UpstreamAnswer {
  /** `unreachable`: no answer, or one that is not from the service, such as a redirect. It is worth a retry. */
  readonly kind: 'answered' | 'unreachable'
  /** Set with `answered`. */
  readonly status?: number
  /** The `X-Sentry-Rate-Limits` header, unchanged. */
  readonly rateLimits?: string
  /** The `Retry-After` header, unchanged. With `unreachable`: seconds to wait before a retry. */
  readonly retryAfter?: string
  /** With `unreachable`: why, for the log. */
  readonly reason?: string
}

/** Connections to the service. */
export interface Upstream {
  /**
   * Sends one envelope. Never rejects.
   * @param body an uncompressed envelope.
   * @param headers to send with it; those of the delivery itself are added.
   * @param signal aborts the delivery: `unreachable`.
   */
  send(body: Buffer, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<UpstreamAnswer>
  /** Ends all connections. */
  dispose(): void
}

const GIVEN_UP: UpstreamAnswer = { kind: 'unreachable', reason: 'given up' }

/** Bounds of a delivery, in ms; for tests. */
export interface UpstreamBounds {
  readonly silenceMs: number
  readonly deliveryMs: number
}

/**
 * Aborts the current exchanges, which are few. Not a `Set`: its former tables reference the next ones, so once one
 * table is in old space, finished requests survive every collection of young objects.
 */
type Ending = (() => void)[]

/** Error codes of the client for a broken connection. */
const BROKEN_OFF: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])
const TIMED_OUT: ReadonlySet<string> = new Set([
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
])

function forget(ending: Ending, giveUp: () => void): void {
  const at = ending.indexOf(giveUp)
  if (at >= 0) ending.splice(at, 1)
}

/** Prepares the connections to the service of a DSN. The first envelope opens one. */
export function createUpstream(
  dsn: Dsn,
  bounds: UpstreamBounds = { silenceMs: SILENCE_MS, deliveryMs: DELIVERY_MS },
): Upstream {
  const { origin, pathname: path } = envelopeUrl(dsn)
  const connections = {
    headersTimeout: bounds.silenceMs,
    bodyTimeout: bounds.silenceMs,
    connect: { timeout: bounds.silenceMs },
    keepAliveTimeout: IDLE_MS,
    maxResponseSize: MOST_ANSWER_BYTES,
    allowH2: false, // Node's HTTP/2 costs more for a few small requests, and megabytes of memory
  }
  let pool: Promise<Pool> | Pool | undefined
  let isDisposed = false
  /** An envelope is often sent during the request that carried it, whose trace must not apply here. */
  const outside = AsyncLocalStorage.snapshot()
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
  /** The exchanges that end with a signal. One listener for all: the drainer passes the same signal each time. */
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

  async function send(
    body: Buffer,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<UpstreamAnswer> {
    const sent = own.slice()
    for (const name in headers) if (!ownNames.has(name.toLowerCase())) sent.push(name, headers[name] ?? '')
    const request = { path, method: 'POST', headers: sent, body } as const
    pool ??= openPool(origin, connections).then((opened) => (pool = opened))
    const kept = pool instanceof Promise ? await pool : pool
    const ask = (connection: Pool) => outside(exchange, connection, request, endingWith(signal), bounds)
    if (signal.aborted || isDisposed) return GIVEN_UP
    const answer = await ask(kept)
    if (answer !== 'broken off') return answer
    // The service may just have closed a kept-alive connection; then it has not seen this envelope.
    const fresh = await openPool(origin, connections)
    const second = signal.aborted || isDisposed ? GIVEN_UP : await ask(fresh)
    void fresh.close()
    return second === 'broken off' ? { kind: 'unreachable', reason: second } : second
  }

  return {
    send,
    dispose() {
      isDisposed = true
      void Promise.resolve(pool).then((opened) => opened?.destroy())
    },
  }
}

/** Loaded for the first envelope, so that servers without reports do not need the memory. */
async function openPool(origin: string, options: Pool.Options): Promise<Pool> {
  const { default: ConnectionPool } = await import('undici/lib/dispatcher/pool.js')
  return new ConnectionPool(origin, options)
}

function exchange(
  client: Pool,
  options: Dispatcher.DispatchOptions,
  ending: Ending,
  { deliveryMs }: UpstreamBounds,
): Promise<UpstreamAnswer | 'broken off'> {
  const { promise, resolve } = Promise.withResolvers<UpstreamAnswer | 'broken off'>()
  let controller: Dispatcher.DispatchController | undefined
  let failed: Error | undefined
  const settle = (answer: UpstreamAnswer | 'broken off'): void => {
    clearTimeout(deadline)
    forget(ending, giveUp)
    resolve(answer)
  }
  const fail = (reason: string): void => {
    settle({ kind: 'unreachable', reason })
    failed = new Error(reason)
    controller?.abort(failed)
  }
  const giveUp = (): void => fail('given up')
  const deadline = setTimeout(() => fail('time-out'), deliveryMs)
  ending.push(giveUp)

  client.dispatch(options, {
    onRequestStart(started) {
      if (failed) started.abort(failed)
      controller = started
    },
    onResponseStart(_controller, status, { 'x-sentry-rate-limits': rateLimits, 'retry-after': retryAfter }) {
      if (status < 200) return
      // The status decides; the body only has to be consumed.
      if (status >= 300 && status < 400) return settle({ kind: 'unreachable', reason: `redirect ${status}` })
      settle({
        kind: 'answered',
        status,
        ...(typeof rateLimits === 'string' ? { rateLimits } : {}),
        ...(typeof retryAfter === 'string' ? { retryAfter } : {}),
      })
    },
    onResponseData: () => undefined,
    onResponseEnd: () => undefined,
    onResponseError(_controller, error: Error & { code?: string }) {
      const { code = 'connection failed' } = error
      if (BROKEN_OFF.has(code)) settle('broken off')
      else settle({ kind: 'unreachable', reason: TIMED_OUT.has(code) ? 'time-out' : code })
    },
  })
  return promise
}
