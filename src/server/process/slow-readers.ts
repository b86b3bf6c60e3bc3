/**
 * Ends connections whose clients do not take their answers: what is queued for them fills the memory of this process, and
 * Node waits for ever. A connection on which nothing is queued, an event stream between two events for one, is left alone.
 *
 * | since the last look                       | then                                                     |
 * |-------------------------------------------|----------------------------------------------------------|
 * | nothing is queued                         | nothing is known of the connection                       |
 * | a queued piece has left, or is the first  | the rest has `PATIENCE_MS`, and a second for each 4 KiB  |
 * | none has left, in time                    | it waits                                                 |
 * | none has left, and the time is over       | the connection is reset                                  |
 *
 * Bound: one entry for each connection with a queue. What the system has taken over counts as sent: how much of that the
 * client has read, it does not tell.
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

const LOOK_MS = 5_000
/** Somebody in a tunnel is not there for so long. */
const PATIENCE_MS = 30_000
/** The slowest line that pages are meant for takes more than that. */
const LEAST_BYTES_A_SECOND = 4_096

/** What is known of a connection with a queue. */
export interface QueueState {
  /** Bytes that had left when it last got on. */
  readonly left: number
  /** Milliseconds, on the clock of the looks: the next piece must have left by then. */
  readonly until: number
}

/** What a connection says of itself. */
export type ConnectionQueue = Pick<Socket, 'bytesWritten' | 'writableLength'>

/** The state after a look. `'late'`: the connection is to be ended. */
export function judgeReader(
  known: QueueState | undefined,
  { bytesWritten, writableLength: queued }: ConnectionQueue,
  now: number,
): QueueState | 'late' | undefined {
  if (queued === 0) return undefined
  // Counts what is queued, too.
  const left = bytesWritten - queued
  if (known === undefined || left > known.left) {
    return { left, until: now + PATIENCE_MS + (queued / LEAST_BYTES_A_SECOND) * 1_000 }
  }
  return now > known.until ? 'late' : known
}

/** When looks are made; for tests. */
export interface ReaderClock {
  /** Milliseconds, on any clock that never goes back. */
  readonly now: () => number
  /** Calls back again and again, and keeps no process alive. */
  readonly every: (milliseconds: number, run: () => void) => void
}

const SYSTEM_CLOCK: ReaderClock = {
  now: () => performance.now(),
  every: (milliseconds, run) => void setInterval(run, milliseconds).unref(),
}

/** Watches all connections of a server, from now on. */
export function endSlowReaders(server: Pick<Server, 'on'>, { now, every }: ReaderClock = SYSTEM_CLOCK): void {
  const open = new Map<Socket, QueueState | undefined>()
  server.on('connection', (socket: Socket) => {
    open.set(socket, undefined)
    socket.once('close', () => open.delete(socket))
  })
  every(LOOK_MS, () => {
    const at = now()
    for (const [socket, known] of open) {
      const state = judgeReader(known, socket, at)
      if (state === 'late') socket.resetAndDestroy()
      else if (state !== known) open.set(socket, state)
    }
  })
}
