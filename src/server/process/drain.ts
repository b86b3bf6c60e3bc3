import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import type { Config } from '../config/config.ts'
import type { Readiness } from './readiness.ts'

const SWEEP_MS = 500 // how long a finished connection may hold the process up; a request may be on its way on a new one
const SHORT_TURN_MS = 0.3 // measured: 0.03 at the 99th percentile where nothing happens in a turn
const PATIENCE_MS = 1_000 // how long to wait for such a turn: somebody may connect all the time, and pages that were begun go on

/** What is drained. */
export interface DrainOptions {
  readonly server: Server
  readonly readiness: Readiness
  readonly config: Pick<Config, 'shutdownDelayMs' | 'shutdownGraceMs'>
}

/**
 * Takes a server out of service: says no to readiness, waits for the balancer to notice, stops accepting, lets answers
 * in flight finish, and closes what is left at the deadline.
 * @returns whether everything had finished by the deadline.
 */
export async function drain({ server, readiness, config }: DrainOptions): Promise<boolean> {
  readiness.markDraining()
  // Answers from now on tell their client to open another connection: by the end of the delay a proxy has none left that
  // it could send a request on just when it is closed. A form that is lost like that is not sent again.
  server.prependListener('request', (_req, res) => res.setHeader('Connection', 'close'))
  await wait(Math.min(config.shutdownDelayMs, config.shutdownGraceMs))
  const release = holdRequests(server)
  await allAccepted(server)
  // Not the HTTP server's own `close`: it ends every connection without a request at once, and with them those whose first
  // request has arrived and is not read yet.
  const closed = new Promise<true>((resolve) => NetServer.prototype.close.call(server, () => resolve(true)))
  release()
  // Answers whose head was out already have promised to keep their connection; it is closed once they are over.
  const sweep = setInterval(() => void closeIdle(server), SWEEP_MS)
  const rest = Math.max(0, config.shutdownGraceMs - config.shutdownDelayMs)
  const deadline = new AbortController()
  const orderly = await Promise.race([
    closed,
    wait(rest, false as const, { signal: deadline.signal }).catch(() => true as const),
  ])
  deadline.abort()
  clearInterval(sweep)
  if (!orderly) server.closeAllConnections()
  return orderly
}

/**
 * Keeps requests from being answered, so that turns of the event loop are short.
 * @returns what lets them be answered, those first that have come in between.
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
 * Waits for a turn of the event loop in which no connection was accepted and little else was done. What the system has
 * queued would be reset together with the listening socket, its requests lost; and the longer a turn goes on after it has
 * asked for connections, the more of them are queued at its end.
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
    await wait(1) // a process that has slept is not interrupted by the system so soon
    const start = performance.now()
    done = !(await hasAccepted()) && performance.now() - start < SHORT_TURN_MS
  }
  server.off('connection', note)
}

/** To Node a connection is idle as long as its first request has not been read: what has come is read first. */
async function closeIdle(server: Server): Promise<void> {
  await nextTurn()
  await nextTurn()
  server.closeIdleConnections()
}
