import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { clientKey } from '../http/client-key.ts'
import type { ProxyTrust } from '../http/trusted-proxy.ts'
import { hasNoPeer } from '../http/has-no-peer.ts'
import { createShares, type SharesOptions } from '../http/shares.ts'
import { createReadingTurns } from './read-in-turns.ts'

/** How connections are shared. */
export interface ConnectionShares extends Pick<SharesOptions, 'onGreedy'> {
  /** Peers that speak for many clients; only `maxConnections` limits them. */
  readonly trustProxy: ProxyTrust
}

/**
 * Resets connections beyond a client's share of `maxConnections`, which must be set before, and reads the others as
 * `read-in-turns.ts` describes.
 */
export function shareConnections(server: Server, { trustProxy, onGreedy }: ConnectionShares): void {
  const shares = createShares({ most: () => server.maxConnections, halves: true, onGreedy })
  const turns = createReadingTurns()
  server.on('connection', (socket: Socket) => {
    if (hasNoPeer(socket)) return void socket.destroy()
    const { remoteAddress: address } = socket
    // A Unix socket has no address; its peer is a proxy.
    const client = address === undefined || trustProxy(address) ? undefined : clientKey(address)
    if (shares.take(client) !== undefined) return void socket.resetAndDestroy()
    socket.once('close', () => shares.give(client))
    if (client !== undefined) turns.add(client, socket)
  })
}
