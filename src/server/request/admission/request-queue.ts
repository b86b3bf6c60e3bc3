import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { RequestHandler } from 'express'
import { clientKey } from '../../http/client-key.ts'
import type { ProxyTrust } from '../../http/trusted-proxy.ts'
import { createShares, type Shares } from '../../http/shares.ts'

/** Of all connections: 10,000 requests of browsers. */
const MOST_WAITING_BYTES = 33_554_432
/** What a parsed request takes beside its texts, and each of its headers; measured in V8. */
const REQUEST_BYTES = 3_072
const HEADER_BYTES = 64

const WAITING = Symbol('millrace.waiting-requests')

interface QueuedConnection extends Socket {
  /** Bytes of the requests that wait on this connection; absent before the first. */
  [WAITING]?: number
}

/** What the queues are made with. */
export interface RequestQueueOptions {
  /** Peers that speak for many clients. */
  readonly trustProxy: ProxyTrust
  /** Bytes of requests that wait, of all connections. */
  readonly waiting?: Shares
}

/**
 * Begins the requests of one connection one after the other: the next begins when the answer to the last is out.
 * Otherwise a few kilobytes of pipelined requests on one connection would take every place of the server. A connection
 * whose client makes too much wait is reset; bytes are counted and not requests, since one may have 16 KiB of headers.
 * What waits on a connection that closes never begins.
 */
export function oneRequestAtATime({
  trustProxy,
  waiting = createShares({ most: () => MOST_WAITING_BYTES }),
}: RequestQueueOptions): RequestHandler {
  return (req, res, next) => {
    // Node gives an answer its socket when it is the first in line.
    if (res.socket === null) wait(req, res, next)
    else next()
  }

  function wait(req: IncomingMessage, res: ServerResponse, begin: () => void): void {
    const socket: QueuedConnection = req.socket
    const bytes = bytesOf(req)
    const address = socket.remoteAddress
    const client = trustProxy(address) ? undefined : clientKey(address ?? '')
    if (waiting.take(client, bytes) !== undefined) {
      socket.resetAndDestroy()
      return
    }
    const leave = (amount: number): void => {
      socket[WAITING] = (socket[WAITING] ?? 0) - amount
      waiting.give(client, amount)
    }
    if (socket[WAITING] === undefined) socket.once('close', () => leave(socket[WAITING] ?? 0))
    socket[WAITING] = (socket[WAITING] ?? 0) + bytes
    res.once('socket', () => {
      // The answer before this one closes in this turn, and gives back what it held.
      process.nextTick(() => {
        if (socket.destroyed) return
        leave(bytes)
        begin()
      })
    })
  }
}

function bytesOf({ url = '', rawHeaders }: IncomingMessage): number {
  let bytes = REQUEST_BYTES + url.length
  for (const text of rawHeaders) bytes += text.length + HEADER_BYTES / 2
  return bytes
}
