import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { RequestHandler } from 'express'
import { clientKey } from '../../http/client-key.ts'
import type { ProxyTrust } from '../../http/trusted-proxy.ts'
import { createShares, type Shares } from '../../http/shares.ts'

/** For all connections: 10,000 waiting requests of browsers, or 1,300 with headers of maximum size. */
const MOST_HEAD_BYTES = 33_554_432
/** Per request that does not wait, not counted: browsers send a quarter of this, or less. */
const FREE_BYTES = 8_192
/** Memory of a parsed request besides its strings, and of each header; measured in V8. */
const REQUEST_BYTES = 3_072
const HEADER_BYTES = 64

const WAITING = Symbol('millrace.waiting-requests')

interface QueuedConnection extends Socket {
  /** Bytes of the requests that wait on this connection; absent before the first. */
  [WAITING]?: number
}

/** Options of the queues. */
interface RequestQueueOptions {
  /** Peers that speak for many clients. */
  readonly trustProxy: ProxyTrust
  /** Bytes of requests, without their bodies, on all connections. */
  readonly heads?: Shares
}

/**
 * Starts the requests of one connection one after the other: each starts after the previous answer is sent. Otherwise a
 * few kilobytes of pipelined requests on one connection would take every place of the server. Requests that wait on a
 * closed connection never start.
 *
 * Requests are counted by their memory: those that wait, and those in progress with long headers, because thousands of
 * half-sent bodies would fill the heap. A connection that exceeds its client's share is reset.
 */
export function oneRequestAtATime({
  trustProxy,
  heads = createShares({ most: () => MOST_HEAD_BYTES }),
}: RequestQueueOptions): RequestHandler {
  return (req, res, next) => {
    // Node assigns the socket to an answer when it is the first in line.
    if (res.socket === null) wait(req, res, next)
    else begin(req, res, next)
  }

  function clientOf({ remoteAddress: address }: Socket): string | undefined {
    return trustProxy(address) ? undefined : clientKey(address ?? '')
  }

  function begin(req: IncomingMessage, res: ServerResponse, next: () => void): void {
    const bytes = bytesOf(req)
    if (bytes > FREE_BYTES) {
      const client = clientOf(req.socket)
      if (heads.take(client, bytes) !== undefined) {
        req.socket.resetAndDestroy()
        return
      }
      res.once('close', () => heads.give(client, bytes))
    }
    next()
  }

  function wait(req: IncomingMessage, res: ServerResponse, next: () => void): void {
    const socket: QueuedConnection = req.socket
    const bytes = bytesOf(req)
    const client = clientOf(socket)
    if (heads.take(client, bytes) !== undefined) {
      socket.resetAndDestroy()
      return
    }
    const leave = (amount: number): void => {
      socket[WAITING] = (socket[WAITING] ?? 0) - amount
      heads.give(client, amount)
    }
    if (socket[WAITING] === undefined) socket.once('close', () => leave(socket[WAITING] ?? 0))
    socket[WAITING] = (socket[WAITING] ?? 0) + bytes
    res.once('socket', () => {
      // The previous answer closes in this turn, and returns what it held.
      process.nextTick(() => {
        if (socket.destroyed) return
        leave(bytes)
        begin(req, res, next)
      })
    })
  }
}

function bytesOf({ url = '', rawHeaders }: IncomingMessage): number {
  let bytes = REQUEST_BYTES + url.length
  for (const text of rawHeaders) bytes += text.length + HEADER_BYTES / 2
  return bytes
}
