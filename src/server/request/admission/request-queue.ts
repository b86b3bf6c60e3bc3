import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { RequestHandler } from 'express'
import { clientKey } from '../../http/client-key.ts'
import type { ProxyTrust } from '../../http/trusted-proxy.ts'
import { createShares, type Shares } from '../../http/shares.ts'

/** Of all connections: 10,000 requests of browsers that wait, or 1,300 with all headers that there may be. */
const MOST_HEAD_BYTES = 33_554_432
/** Of a request that does not wait, and not counted: browsers send a quarter of it, or less. */
const FREE_BYTES = 8_192
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
  /** Bytes of requests, without their bodies, of all connections. */
  readonly heads?: Shares
}

/**
 * Begins the requests of one connection one after the other: the next begins when the answer to the last is out.
 * Otherwise a few kilobytes of pipelined requests on one connection would take every place of the server. What waits on a
 * connection that closes never begins.
 *
 * Requests are counted by the memory that they take: those that wait, and those in progress with long headers, of which
 * thousands of half-sent bodies would fill the heap. A connection that adds to them beyond its client's share is reset.
 */
export function oneRequestAtATime({
  trustProxy,
  heads = createShares({ most: () => MOST_HEAD_BYTES }),
}: RequestQueueOptions): RequestHandler {
  return (req, res, next) => {
    // Node gives an answer its socket when it is the first in line.
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
      // The answer before this one closes in this turn, and gives back what it held.
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
