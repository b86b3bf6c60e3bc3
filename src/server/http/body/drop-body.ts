import type { IncomingMessage, ServerResponse } from 'node:http'

/** The rest of a body up to this size is read, so that the connection closes without a reset. */
const MOST_DROPPED_BYTES = 262_144

/** How long a client may keep sending after its answer, in ms. */
const LINGER_MS = 1_000

/**
 * Whether the unread rest of a body is, or may be, larger than what we drop. If so, the connection cannot serve another
 * request unless the body is read.
 */
export function outlastsAnswer({ complete, headers }: Pick<IncomingMessage, 'complete' | 'headers'>): boolean {
  const length = headers['content-length']
  if (complete || (length === undefined && headers['transfer-encoding'] === undefined)) return false
  return length === undefined || Number(length) > MOST_DROPPED_BYTES
}

/**
 * Makes sure that the answer reaches the client although the request's body was not read. Closing a socket with unread
 * bytes resets it, and the reset may overtake the answer. So we end our side after the answer, read and drop the rest
 * of the body within limits, and only then close the socket. Call this before the answer or directly after it; a second
 * call does nothing. A body that has arrived completely keeps its connection.
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
  // Node's server calls this after a last answer, and would close a connection that is still receiving.
  socket.destroySoon = () => {
    ending = true
    socket.end()
  }
  req.on('data', count).on('end', stop)
  // After the answer, Node no longer tells the request that its connection has closed.
  socket.on('close', stop)
  req.resume()
  if (res.closed) linger()
  else res.once('close', linger)
}
