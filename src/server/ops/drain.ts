import type { Server } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import type { Config } from '../config.ts'
import type { Readiness } from './readiness.ts'

const SWEEP_MS = 500 // how long a finished connection may hold the process up; a request may be on its way on a new one

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
  await allAccepted(server)
  // Not the HTTP server's own `close`: it ends every connection without a request at once, and with them those whose first
  // request has arrived and is not read yet.
  const closed = new Promise<true>((resolve) => NetServer.prototype.close.call(server, () => resolve(true)))
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
 * Waits for a turn of the event loop in which no connection was accepted. Those that the system has queued would be reset
 * together with the listening socket, their requests lost.
 */
async function allAccepted(server: Server): Promise<void> {
  const turn = { accepted: true }
  const note = (): void => {
    turn.accepted = true
  }
  server.on('connection', note)
  while (turn.accepted) {
    turn.accepted = false
    await nextTurn()
  }
  server.off('connection', note)
}

/** To Node a connection is idle as long as its first request has not been read: what has come is read first. */
async function closeIdle(server: Server): Promise<void> {
  await nextTurn()
  await nextTurn()
  server.closeIdleConnections()
}
