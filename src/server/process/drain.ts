import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import type { Config } from '../config/config.ts'
import type { Readiness } from './readiness.ts'

const SWEEP_MS = 500 // longest delay by a finished connection; a new one may have a request in flight
const SHORT_TURN_MS = 0.3 // measured: an idle turn takes 0.03 at the 99th percentile
const HEAD_MS = 2_000 // for a request that has begun; nobody waits longer for half a line of a stranger
const STOP_SHARE = 1 / 5 // of the grace, for what the application does after its last answer
const LONGEST_STOP_MS = 3_000
const PATIENCE_MS = 1_000 // longest wait for such a turn: clients may keep connecting, and renders continue

/** What is drained. */
interface DrainOptions {
  readonly server: Server
  readonly readiness: Readiness
  readonly config: Pick<Config, 'shutdownDelayMs' | 'shutdownGraceMs'>
}

/**
 * Takes a server out of service: fails `/readyz`, waits for the load balancer to notice, stops accepting connections, lets
 * answers in flight finish, and closes the rest at the deadline: before the end of the grace, so that slow senders leave the
 * application time to stop.
 * @returns whether everything had finished by the deadline.
 */
export async function drain({ server, readiness, config }: DrainOptions): Promise<boolean> {
  readiness.markDraining()
  // From now on every answer closes its connection, so that after the delay no proxy sends a request on a connection
  // that is being closed: a form that is lost that way is not sent again.
  server.prependListener('request', (_req, res) => res.setHeader('Connection', 'close'))
  await wait(Math.min(config.shutdownDelayMs, config.shutdownGraceMs))
  const release = holdRequests(server)
  await allAccepted(server)
  // Not the HTTP server's own `close`: it would also end connections whose first request has arrived but is not read yet.
  const closed = new Promise<true>((resolve) => NetServer.prototype.close.call(server, () => resolve(true)))
  server.headersTimeout = HEAD_MS
  release()
  // Answers whose headers were sent before keep their connection open; it is closed after them.
  const sweep = setInterval(() => void closeIdle(server), SWEEP_MS)
  const rest = Math.max(0, config.shutdownGraceMs - config.shutdownDelayMs)
  const stop = Math.min(LONGEST_STOP_MS, rest * STOP_SHARE)
  const deadline = new AbortController()
  const orderly = await Promise.race([
    closed,
    wait(rest - stop, false as const, { signal: deadline.signal }).catch(() => true as const),
  ])
  deadline.abort()
  clearInterval(sweep)
  if (!orderly) server.closeAllConnections()
  return orderly
}

/**
 * Holds requests back, so that turns of the event loop are short.
 * @returns releases them, in their order.
 */
function holdRequests(server: Server): () => void {
  const held: [IncomingMessage, ServerResponse][] = []
  const listeners = server.listeners('request') as RequestListener[]
  const hold: RequestListener = (req, res) => void held.push([req, res])
  server.removeAllListeners('request').on('request', hold)
  return () => {
    server.off('request', hold)
    for (const listener of listeners) server.on('request', listener)
    for (const [req, res] of held) server.emit('request', req, res)
  }
}

/**
 * Waits for a short turn of the event loop in which no connection was accepted. Closing the listening socket resets the
 * connections that the system has queued, and their requests are lost; long turns queue more of them.
 */
async function allAccepted(server: Server): Promise<void> {
  const turn = { accepted: false }
  const note = (): void => {
    turn.accepted = true
  }
  const hasAccepted = async (): Promise<boolean> => {
    turn.accepted = false
    await nextTurn()
    return turn.accepted
  }
  server.on('connection', note)
  const deadline = performance.now() + PATIENCE_MS
  for (let done = false; !done && performance.now() < deadline;) {
    if (await hasAccepted()) continue
    await wait(1) // the system rarely interrupts a process that has just slept
    const start = performance.now()
    done = !(await hasAccepted()) && performance.now() - start < SHORT_TURN_MS
  }
  server.off('connection', note)
}

/**
 * Node counts a connection as idle until its first request is read: two turns let it read the data that has arrived.
 */
async function closeIdle(server: Server): Promise<void> {
  await nextTurn()
  await nextTurn()
  server.closeIdleConnections()
}
