import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { RequestHandler } from 'express'
import { clientKey } from '../../http/client-key.ts'
import type { ProxyTrust } from '../../http/trusted-proxy.ts'
import { createShares, type Shares } from '../../http/shares.ts'

/** Of all connections. A parsed request that waits takes about 3 KiB. */
const MOST_WAITING = 16_384

const WAITING = Symbol('millrace.waiting-requests')

interface QueuedConnection extends Socket {
  /** Requests that wait on this connection; absent before the first. */
  [WAITING]?: number
}

/** What the queues are made with. */
export interface RequestQueueOptions {
  /** Peers that speak for many clients. */
  readonly trustProxy: ProxyTrust
  /** Requests that wait, of all connections. */
  readonly waiting?: Shares
}

/**
 * Begins the requests of one connection one after the other: the next begins when the answer to the last is out.
 * Otherwise a few kilobytes of pipelined requests on one connection would take every place of the server. A connection
 * whose client makes too many requests wait is reset. What waits on a connection that closes never begins.
 */
export function oneRequestAtATime({
  trustProxy,
  waiting = createShares({ most: () => MOST_WAITING }),
}: RequestQueueOptions): RequestHandler {
  return (req, res, next) => {
    // Node gives an answer its socket when it is the first in line.
    if (res.socket === null) wait(req, res, next)
    else next()
  }

  function wait({ socket: connection }: IncomingMessage, res: ServerResponse, begin: () => void): void {
    const socket: QueuedConnection = connection
    const address = socket.remoteAddress
    const client = trustProxy(address) ? undefined : clientKey(address ?? '')
    if (waiting.take(client) !== undefined) {
      socket.resetAndDestroy()
      return
    }
    const leave = (count: number): void => {
      socket[WAITING] = (socket[WAITING] ?? 0) - count
      waiting.give(client, count)
    }
    if (socket[WAITING] === undefined) socket.once('close', () => leave(socket[WAITING] ?? 0))
    socket[WAITING] = (socket[WAITING] ?? 0) + 1
    res.once('socket', () => {
      // The answer before this one closes in this turn, and gives back what it held.
      process.nextTick(() => {
        if (socket.destroyed) return
        leave(1)
        begin()
      })
    })
  }
}
