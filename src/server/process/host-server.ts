import type { Server } from 'node:http'
import type { Config } from '../config/config.ts'
import { watchNameless } from '../http/parsed-work.ts'
import { drain } from './drain.ts'
import { limitConnections } from './limit-connections.ts'
import type { Readiness } from './readiness.ts'
import { limitNumberOfConnections } from './server-limits.ts'
import { shareConnections, type ConnectionShares } from './share-connections.ts'
import { endSlowReaders } from './slow-readers.ts'

// On the server itself: several applications, each with its own copy of this module, may be in one host.
const GUARDED = Symbol.for('millrace.guarded')
const DRAINED = Symbol.for('millrace.drained')

interface HostServer extends Server {
  [GUARDED]?: true
  [DRAINED]?: Promise<boolean>
}

/** Guards the connections of a host's server, once. Its time-outs stay the host's, and so does a limit of connections. */
export function limitHostServer(server: HostServer, shares: ConnectionShares): void {
  if (server[GUARDED] === true) return
  server[GUARDED] = true
  if (!(server.maxConnections > 0)) limitNumberOfConnections(server)
  shareConnections(server, shares)
  watchNameless()
  limitConnections(server)
  endSlowReaders(server)
}

/** As `drain`; the applications of a host close its server together. */
export function drainHostServer(
  server: HostServer,
  readiness: Readiness,
  config: Pick<Config, 'shutdownDelayMs' | 'shutdownGraceMs'>,
): Promise<boolean> {
  readiness.markDraining()
  return (server[DRAINED] ??= server.listening ? drain({ server, readiness, config }) : Promise.resolve(true))
}
