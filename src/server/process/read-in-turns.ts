/**
 * Reads the connections of a client in turns, once it has sent more pipelined requests than may wait.
 *
 * Node parses all that one read has brought, 64 KiB, and makes the objects of some 2,000 requests of it, also after the
 * connection was reset: 30 ms. libuv reads every connection that has sent something before it looks at anything else. So
 * with two hundred connections, one client kept everybody waiting for seconds, at 16 Mbit/s.
 *
 * | connections of this client               | then                                                            |
 * |------------------------------------------|-----------------------------------------------------------------|
 * | one is about to be reset for it          | the others are paused, in the same round of the event loop      |
 * | one is opened while others are paused    | it is paused, too                                               |
 * | `GAP_MS` later, or as long as reading took | they go on in this order, until `READ_BYTES` of theirs are read, and so on |
 * | paused ones have sent over `MOST_BYTES`  | those with most are reset                                       |
 *
 * Browsers and proxies do not pipeline. Others behind the same address wait with it.
 *
 * Bound: one entry for each connection.
 */
import type { Socket } from 'node:net'
import { EVENT_LOOP, type EventLoop } from '../http/event-loop.ts'
import { beforeOverrun } from '../http/overrun.ts'

const GAP_MS = 20
const READ_BYTES = 32_768
/** For one client: nobody waits longer than for 256 turns. Node reads 128 KiB at most of a paused connection. */
const MOST_BYTES = 256 * READ_BYTES

/** Another one in tests. */
interface ReadingClock extends Pick<EventLoop, 'now' | 'nextTurn'> {
  readonly later: (run: () => void, milliseconds: number) => unknown
}

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
export function createReadingTurns(
  { now, nextTurn, later }: ReadingClock = { ...EVENT_LOOP, later: setTimeout },
): ReadingTurns {
  const clients = new Map<string, ClientConnections>()

  function pauseAll({ open, paused }: ClientConnections, cause: Socket): void {
    const isIdle = paused.size === 0
    for (const socket of open) if (socket !== cause && !paused.has(socket)) pause(paused, socket)
    if (isIdle && paused.size > 0) waitToGoOn(paused)
  }

  /** What has begun in this round may take as long as all others get then. */
  function waitToGoOn(paused: Set<Socket>): void {
    const since = now()
    nextTurn(() => later(() => goOn(paused), Math.max(GAP_MS, now() - since)))
  }

  function goOn(paused: Set<Socket>): void {
    shed(paused)
    let bytes = 0
    for (const socket of paused) {
      if (bytes >= READ_BYTES) break
      bytes += socket.readableLength
      paused.delete(socket)
      socket.resume()
    }
    if (paused.size > 0) waitToGoOn(paused)
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
  paused.add(socket)
  // Node's parser takes what arrives past the stream, which cannot be paused, until somebody listens.
  if (socket.listenerCount('data', noListener) === 0) socket.on('data', noListener)
  socket.pause()
}

function noListener(): void {}

function shed(paused: Set<Socket>): void {
  let bytes = 0
  for (const { readableLength } of paused) bytes += readableLength
  if (bytes <= MOST_BYTES) return
  for (const socket of [...paused].toSorted((one, other) => other.readableLength - one.readableLength)) {
    if (bytes <= MOST_BYTES) return
    bytes -= socket.readableLength
    paused.delete(socket)
    socket.resetAndDestroy()
  }
}
