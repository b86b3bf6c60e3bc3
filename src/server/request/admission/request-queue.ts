import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { RequestHandler } from 'express'
import { dropBody, outlastsAnswer } from '../../http/body/drop-body.ts'
import { clientKey } from '../../http/client-key.ts'
import { hasNoPeer } from '../../http/has-no-peer.ts'
import type { ProxyTrust } from '../../http/trusted-proxy.ts'
import { createShares, type ShareRefusal } from '../../http/shares.ts'
import { sendText } from '../answer/send-plain.ts'
import { createEntryTurns, type EntryTurns } from './entry-turns.ts'
import { contextOf } from '../attached-context.ts'
import type { RequestContext } from '../context.ts'
import { giveAfterWork } from '../running-work.ts'

/** For all connections: 10,000 waiting requests of browsers, or 1,300 with headers of maximum size. */
const MOST_HEAD_BYTES = 33_554_432
/** Per request that does not wait, not counted: browsers send a quarter of this, or less. */
const FREE_BYTES = 8_192
/** Memory of a parsed request besides its strings, and of each header; measured in V8. */
const REQUEST_BYTES = 3_072
const HEADER_BYTES = 64
/** What a client may hold when all is taken: a few requests of a browser with large cookies. */
const LITTLE_BYTES = 65_536
/** Beyond the bound, for clients that hold little: 128 of them at once. */
const RESERVED_SHARE = 1 / 4
/** Refused clients must not all return at once. */
const RETRY_SPREAD_SECONDS = 4

const WAITING = Symbol('millrace.waiting-requests')
const HAS_ASKED = Symbol('millrace.has-asked')

interface QueuedConnection extends Socket {
  /** Bytes of the requests that wait on this connection; absent before the first. */
  [WAITING]?: number
  /** It has had a request. */
  [HAS_ASKED]?: boolean
}

/** Options of the queue. */
interface RequestQueueOptions {
  /** Peers that speak for many clients. */
  readonly trustProxy: ProxyTrust
  /** Address of whoever sends a request, behind such a peer too. */
  readonly addressOf: (req: IncomingMessage) => string
  /** Bytes of requests, without their bodies, on all connections; default: 32 MiB. */
  readonly most?: number
  readonly turns?: EntryTurns
}

/** Middleware that bounds what requests hold before they are answered. */
export interface RequestQueue {
  /**
   * Starts requests in turns of the event loop, as `entry-turns.ts` describes, and those of one connection one after the
   * other: each starts after the previous answer is sent. Otherwise a few kilobytes of pipelined requests on one connection
   * would take every place of the server. Requests that wait on a closed connection never start. A connection that exceeds its client's share is reset: an answer would have to wait, and
   * its request with it. No proxy sends a request before the previous one is answered.
   */
  readonly oneAtATime: (req: IncomingMessage, res: ServerResponse, go: () => void) => void
  /**
   * Counts requests in progress with long headers, because thousands of open streams or half-sent bodies would fill the
   * heap: an application may read headers until the end, so they are never dropped. Answers 503 to a client above its share,
   * and never by a reset, for which a proxy would blame the server. For behind `openRequest`, which knows the client.
   *
   * | held by all           | held by the client              | then     |
   * |-----------------------|---------------------------------|----------|
   * | as `http/shares.ts`   | its share                       | begins   |
   * | the bound             | 64 KiB at most, with this one   | begins, up to a quarter beyond the bound |
   * | any other             | any other                       | 503      |
   */
  readonly longHeads: RequestHandler
}

/** Requests are counted by their memory: those that wait, and those in progress with long headers. */
export function createRequestQueue(options: RequestQueueOptions): RequestQueue {
  const { trustProxy, addressOf, most = MOST_HEAD_BYTES, turns = createEntryTurns() } = options
  const heads = createShares({ most: () => most })

  function takeLong(client: string, bytes: number): ShareRefusal | undefined {
    const refusal = heads.take(client, bytes)
    if (refusal === undefined) return undefined
    if (heads.of(client) + bytes > LITTLE_BYTES || heads.taken + bytes > most * (1 + RESERVED_SHARE)) return refusal
    heads.add(client, bytes)
    return undefined
  }

  return {
    oneAtATime(req, res, next) {
      if (hasNoPeer(req.socket)) return void req.socket.destroy()
      // Node assigns the socket to an answer when it is the first in line.
      if (res.socket === null) wait(req, res, next)
      else begin(req, next)
    },
    longHeads(req, _res, next) {
      const bytes = bytesOf(req)
      if (bytes <= FREE_BYTES) return next()
      const context = contextOf(req)
      const client = clientKey(context.clientAddress.address)
      const refusal = takeLong(client, bytes)
      if (refusal !== undefined) return refuse(context, refusal)
      context.onFinish(() => giveAfterWork(context, () => heads.give(client, bytes)))
      next()
    },
  }

  function begin(req: IncomingMessage, go: () => void): void {
    const connection: QueuedConnection = req.socket
    const isNewcomer = connection[HAS_ASKED] !== true
    connection[HAS_ASKED] = true
    const turn = turns.take(() => clientKey(addressOf(req)), isNewcomer)
    if (turn === undefined) return go()
    void turn.then(() => {
      if (!req.socket.destroyed) go()
    })
  }

  function wait(req: IncomingMessage, res: ServerResponse, next: () => void): void {
    const socket: QueuedConnection = req.socket
    const bytes = bytesOf(req)
    const { remoteAddress: address = '' } = socket
    const client = trustProxy(address) ? undefined : clientKey(address)
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
    // It would begin in the context of the request whose answer ends.
    const start = AsyncLocalStorage.bind(() => {
      if (socket.destroyed) return
      leave(bytes)
      begin(req, next)
    })
    // The previous answer closes in this turn, and returns what it held.
    res.once('socket', () => process.nextTick(start))
  }
}

function refuse(context: RequestContext, refusal: ShareRefusal): void {
  const { req, res, record } = context
  record.refused = refusal === 'client' ? 'too many long requests of one client' : 'too many long requests'
  if (outlastsAnswer(req)) dropBody(req, res)
  sendText(context, 503, 'Too busy', ['Retry-After', String(1 + Math.floor(Math.random() * RETRY_SPREAD_SECONDS))])
}

function bytesOf({ url = '', rawHeaders }: IncomingMessage): number {
  let bytes = REQUEST_BYTES + url.length
  for (const text of rawHeaders) bytes += text.length + HEADER_BYTES / 2
  return bytes
}
