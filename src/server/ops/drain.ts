import type { Server } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import type { Config } from '../config.ts'
import type { Readiness } from './readiness.ts'

const SWEEP_MS = 100 // how long a finished connection may hold the process up

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
  await wait(Math.min(config.shutdownDelayMs, config.shutdownGraceMs))
  // Answers from now on tell their client to open another connection elsewhere.
  server.prependListener('request', (_req, res) => res.setHeader('Connection', 'close'))
  const closed = new Promise<true>((resolve) => server.close(() => resolve(true)))
  // Answers whose head was out already have promised to keep their connection; it is closed once they are over.
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS)
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
