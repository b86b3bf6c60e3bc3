import type { IncomingMessage, ServerResponse } from 'node:http'

/** A body that ends within this many bytes is taken to its end, and the connection closes without a reset. */
const MOST_DROPPED_BYTES = 262_144

/** How long after its answer a client that still sends may take to notice it, in ms. */
const LINGER_MS = 1_000

/**
 * Whether what is still to come of a body is, or may be, more than is dropped: the connection will not serve another
 * request unless somebody reads it.
 */
export function outlastsAnswer({ complete, headers }: Pick<IncomingMessage, 'complete' | 'headers'>): boolean {
  const length = headers['content-length']
  if (complete || (length === undefined && headers['transfer-encoding'] === undefined)) return false
  return length === undefined || Number(length) > MOST_DROPPED_BYTES
}

/**
 * For a request that is answered though its body has not been read: lets the answer reach the client. A socket that is
 * closed with unread bytes is reset, and the reset may overtake the answer. So our side ends with the answer, the rest of
 * the body is read and dropped within bounds, and only then is the socket closed. To be called before the answer or right
 * behind it; a second call does nothing. A body that has arrived as a whole costs the connection nothing.
 */
export function dropBody(req: IncomingMessage, res: ServerResponse): void {
  if (req.complete || req.destroyed) {
    req.resume()
    return
  }
  const { socket } = req
  if (Object.hasOwn(socket, 'destroySoon')) return
  let dropped = 0
  let over = false
  let ending = false
  let timer: NodeJS.Timeout | undefined

  const count = (chunk: Buffer) => {
    dropped += chunk.length
    if (dropped > MOST_DROPPED_BYTES) req.pause()
  }
  const linger = () => {
    if (!over) timer ??= setTimeout(stop, LINGER_MS)
  }
  const stop = () => {
    over = true
    clearTimeout(timer)
    req.off('data', count).off('end', stop)
    socket.off('close', stop)
    res.off('close', linger)
    Reflect.deleteProperty(socket, 'destroySoon')
    if (ending || !req.complete) socket.destroySoon()
  }

  if (!res.headersSent) res.shouldKeepAlive = false
  // Node's server calls this when a last answer is out, and would close whatever is still coming in.
  socket.destroySoon = () => {
    ending = true
    socket.end()
  }
  req.on('data', count).on('end', stop)
  // Behind the answer Node no longer tells the request that its connection is gone.
  socket.on('close', stop)
  req.resume()
  if (res.closed) linger()
  else res.once('close', linger)
}
