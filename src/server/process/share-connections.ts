import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { clientKey } from '../http/client-key.ts'
import type { ProxyTrust } from '../http/trusted-proxy.ts'
import { createShares, type SharesOptions } from '../http/shares.ts'

/** What connections are shared by. */
export interface ConnectionShares extends Pick<SharesOptions, 'onGreedy'> {
  /** Peers that speak for many clients: for them the bound alone counts. */
  readonly trustProxy: ProxyTrust
}

/**
 * Keeps one client from taking all connections of a server: what is more than its share is reset at once. To be called
 * when `maxConnections` is set, which stays the bound.
 */
export function shareConnections(server: Server, { trustProxy, onGreedy }: ConnectionShares): void {
  const shares = createShares({ most: () => server.maxConnections, onGreedy })
  server.on('connection', (socket: Socket) => {
    const { remoteAddress: address } = socket
    // A Unix socket has no address, and its peer is a proxy.
    const client = address === undefined || trustProxy(address) ? undefined : clientKey(address)
    if (shares.take(client) === undefined) socket.once('close', () => shares.give(client))
    else socket.resetAndDestroy()
  })
}
