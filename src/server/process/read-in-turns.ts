/**
 * Reads the connections of clients in turns that pipeline many requests.
 *
 * Node parses all that one read has brought, 64 KiB, and makes the objects of up to 3,500 requests of it, even if the first one ends
 * the connection: 30 ms and more. libuv reads every connection that has sent something before it looks at anything else. So
 * with twenty connections, one client kept everybody waiting for seconds, at 30 Mbit/s.
 *
 * | in a round of the event loop                     | then                                                            |
 * |--------------------------------------------------|-----------------------------------------------------------------|
 * | a client has sent `MOST_IN_ROUND` pipelined requests, or 16 times as many chunks of bodies | it is slow for `SLOW_MS`, and its connections are paused at once, with those of all slow clients |
 * | a slow client opens a connection                 | it is paused, too                                               |
 * | `GAP_MS` later, or as long as that round took    | some of one client go on, as `goOn` has it, and so on           |
 * | paused ones of a client have sent over `MOST_BYTES`, or all over `MOST_OF_ALL` | those with most are reset          |
 *
 * Browsers and proxies do not pipeline. Others behind the address of a slow client wait with it, but their few bytes go first.
 *
 * Bound: one entry for each connection, and for each client that was slow lately.
 */
import type { Socket } from 'node:net'
import { EVENT_LOOP, type EventLoop } from '../http/event-loop.ts'
import { onParsed } from '../http/parsed-work.ts'

/** Four milliseconds, of requests; so many small chunks of bodies are counted as one that they take no longer. */
const MOST_IN_ROUND = 256
const SLOW_MS = 10_000
const GAP_MS = 20
/** Of one client in a turn. */
const READ_BYTES = 32_768
/** A request of a browser; as many as fit into half of `READ_BYTES` go before the others. */
const FEW_BYTES = 4_096
/** For one client: nobody waits longer than for 256 turns. Node reads 128 KiB at most of a paused connection. */
const MOST_BYTES = 256 * READ_BYTES
/** For all clients. */
const MOST_OF_ALL = 8 * MOST_BYTES

/** Another one in tests. */
interface ReadingClock extends Pick<EventLoop, 'now' | 'nextTurn'> {
  readonly later: (run: () => void, milliseconds: number) => unknown
}

const CLOCK: ReadingClock = { ...EVENT_LOOP, later: (run, milliseconds) => setTimeout(run, milliseconds).unref() }

interface Client {
  readonly name: string
  readonly open: Set<Socket>
  readonly paused: Set<Socket>
  /** Pipelined requests in this round, and as much other work. */
  inRound: number
  slowUntil: number
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
export function createReadingTurns({ now, nextTurn, later }: ReadingClock = CLOCK): ReadingTurns {
  const clients = new Map<string, Client>()
  /** The first is the one whose turn it is. */
  const slow = new Set<Client>()
  let isResting = false

  function note(client: Client): void {
    client.inRound += 1
    if (client.inRound === 1) nextTurn(() => void (client.inRound = 0))
    if (client.inRound !== MOST_IN_ROUND) return
    client.slowUntil = now() + SLOW_MS
    slow.add(client)
    for (const { open, paused } of slow) for (const socket of open) pause(paused, socket)
    rest()
  }

  /** What goes on in a round may take as long as all others get then. */
  function rest(): void {
    if (isResting) return
    isResting = true
    const since = now()
    nextTurn(() => later(goOn, Math.max(GAP_MS, now() - since)))
  }

  function goOn(): void {
    isResting = false
    for (const client of slow) {
      if (client.paused.size === 0 && now() >= client.slowUntil) {
        slow.delete(client)
        forget(client)
      }
    }
    shed(
      [...slow].map(({ paused }) => paused),
      MOST_OF_ALL,
    )
    const next = [...slow].find(({ paused }) => paused.size > 0)
    if (next !== undefined) {
      slow.delete(next)
      slow.add(next)
      shed([next.paused], MOST_BYTES)
      readSome(next.paused)
    }
    if (slow.size > 0) rest()
  }

  function forget(client: Client): void {
    if (client.open.size === 0 && !slow.has(client)) clients.delete(client.name)
  }

  return {
    add(name, socket) {
      const client = clients.get(name) ?? { name, open: new Set(), paused: new Set(), inRound: 0, slowUntil: 0 }
      clients.set(name, client)
      const { open, paused } = client
      open.add(socket)
      if (slow.has(client)) pause(paused, socket)
      onParsed(socket, () => note(client))
      socket.once('close', () => {
        open.delete(socket)
        paused.delete(socket)
        forget(client)
      })
    },
  }
}

function pause(paused: Set<Socket>, socket: Socket): void {
  if (paused.has(socket)) return
  paused.add(socket)
  // Node's parser takes what arrives past the stream, which cannot be paused, until somebody listens.
  if (socket.listenerCount('data', noListener) === 0) {
    socket.on('data', noListener)
    // Node reads on by itself after an answer.
    socket.on('resume', () => paused.has(socket) && socket.pause())
    closeWithoutStacks(socket)
  }
  socket.pause()
}

function noListener(): void {}

/** When it closes, Node makes an error for each request that waits on it. With their stacks, thousands take seconds. */
function closeWithoutStacks(socket: Socket): void {
  let former = 0
  socket.prependListener('close', () => {
    former = Error.stackTraceLimit
    Error.stackTraceLimit = 0
  })
  socket.on('close', () => void (Error.stackTraceLimit = former))
}

/** Whoever has sent little goes first, and then the others in the order in which they were paused. */
function readSome(paused: Set<Socket>): void {
  let bytes = 0
  for (const most of [FEW_BYTES, Infinity]) {
    for (const socket of paused) {
      const { readableLength } = socket
      if (bytes >= (most === Infinity ? READ_BYTES : READ_BYTES / 2)) break
      if (readableLength > most) continue
      bytes += readableLength
      paused.delete(socket)
      socket.resume()
    }
  }
}

/** @param most bytes that they may have sent; beyond that, those with most are reset. */
function shed(lines: readonly Set<Socket>[], most: number): void {
  let bytes = 0
  for (const paused of lines) for (const { readableLength } of paused) bytes += readableLength
  if (bytes <= most) return
  const sockets = lines.flatMap((paused) => [...paused])
  for (const socket of sockets.toSorted((one, other) => other.readableLength - one.readableLength)) {
    if (bytes <= most) return
    bytes -= socket.readableLength
    for (const paused of lines) paused.delete(socket)
    socket.resetAndDestroy()
  }
}
