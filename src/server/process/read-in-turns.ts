/**
 * Reads the connections of a client one after the other, once it has sent more pipelined requests than may wait.
 *
 * Node parses all that one read has brought, 64 KiB, and makes the objects of some 2,000 requests of it, also after the
 * connection was reset: 30 ms. libuv reads every connection that has sent something before it looks at anything else. So
 * with two hundred connections, one client kept everybody waiting for seconds, at 16 Mbit/s.
 *
 * | a connection of the client                         | when one of them is reset, `beforeOverrun`           |
 * |----------------------------------------------------|------------------------------------------------------|
 * | open                                               | is paused, in the same round of the event loop       |
 * | opened while others are paused                     | is paused                                            |
 * | paused, has sent nothing                           | goes on with the next of the line that has           |
 * | paused, has sent something                         | goes on `GAP_MS` after the one before                |
 * | paused, behind `MOST_PAUSED` others                | is reset: each holds up to 64 KiB that were received |
 *
 * Browsers and proxies do not pipeline. Others behind the same address wait with it.
 *
 * Bound: one entry for each connection.
 */
import type { Socket } from 'node:net'
import { beforeOverrun } from '../http/overrun.ts'

const GAP_MS = 20
const MOST_PAUSED = 256

/** Calls back later; another one in tests. */
type Later = (run: () => void, milliseconds: number) => unknown

interface ClientConnections {
  readonly open: Set<Socket>
  readonly paused: Set<Socket>
}

/** Follows connections that are open. */
export interface ReadingTurns {
  /**
   * Adds a connection that has just been opened, until it closes.
   * @param client as `clientKey` names it.
   */
  add(client: string, socket: Socket): void
}

/** Starts empty. */
export function createReadingTurns(later: Later = setTimeout): ReadingTurns {
  const clients = new Map<string, ClientConnections>()

  function pauseAll({ open, paused }: ClientConnections, cause: Socket): void {
    const isIdle = paused.size === 0
    for (const socket of open) if (socket !== cause && !paused.has(socket)) pause(paused, socket)
    if (isIdle && paused.size > 0) later(() => goOn(paused), GAP_MS)
  }

  function goOn(paused: Set<Socket>): void {
    for (const socket of paused) {
      paused.delete(socket)
      const hasSent = socket.readableLength > 0
      socket.resume()
      if (hasSent) break
    }
    if (paused.size > 0) later(() => goOn(paused), GAP_MS)
  }

  return {
    add(client, socket) {
      let connections = clients.get(client)
      if (connections === undefined) clients.set(client, (connections = { open: new Set(), paused: new Set() }))
      const { open, paused } = connections
      open.add(socket)
      if (paused.size > 0) pause(paused, socket)
      beforeOverrun(socket, () => pauseAll(connections, socket))
      socket.once('close', () => {
        open.delete(socket)
        paused.delete(socket)
        if (open.size === 0) clients.delete(client)
      })
    },
  }
}

function pause(paused: Set<Socket>, socket: Socket): void {
  if (paused.size >= MOST_PAUSED) return void socket.resetAndDestroy()
  paused.add(socket)
  // Node's parser takes what arrives past the stream, which cannot be paused, until somebody listens.
  if (socket.listenerCount('data', noListener) === 0) socket.on('data', noListener)
  socket.pause()
}

function noListener(): void {}
