/**
 * Ends connections whose clients do not read their answers: Node would wait forever, and the queue would fill the memory. A
 * connection without a queue, such as an event stream between two events, is left alone.
 *
 * | at a check                           | then                                                        |
 * |--------------------------------------|-------------------------------------------------------------|
 * | nothing is queued                    | the state is forgotten                                      |
 * | a queue is new, or a piece was sent  | the rest gets `PATIENCE_MS`, and a second for each 4 KiB    |
 * | nothing was sent, in time            | it waits                                                    |
 * | nothing was sent, and time is up     | the connection is reset                                     |
 *
 * Bound: one entry per connection with a queue. Bytes handed to the system count as sent: it does not report how much
 * the client has read.
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

const LOOK_MS = 5_000
const PATIENCE_MS = 30_000 // longer than a phone in a tunnel
const LEAST_BYTES_A_SECOND = 4_096 // less than the slowest line that pages are meant for

/** State of a connection with a queue. */
export interface QueueState {
  /** Bytes sent at the last progress. */
  readonly left: number
  /** When the next piece must have been sent: milliseconds, on the clock of the checks. */
  readonly until: number
}

/** The part of a socket that describes its queue. */
export type ConnectionQueue = Pick<Socket, 'bytesWritten' | 'writableLength'>

/** The state after a check. `'late'`: end the connection. */
export function judgeReader(
  known: QueueState | undefined,
  { bytesWritten, writableLength: queued }: ConnectionQueue,
  now: number,
): QueueState | 'late' | undefined {
  if (queued === 0) return undefined
  // `bytesWritten` includes the queue.
  const left = bytesWritten - queued
  if (known === undefined || left > known.left) {
    return { left, until: now + PATIENCE_MS + (queued / LEAST_BYTES_A_SECOND) * 1_000 }
  }
  return now > known.until ? 'late' : known
}

/** Clock and timer, for tests. */
interface ReaderClock {
  /** Monotonic milliseconds. */
  readonly now: () => number
  /** Calls back repeatedly, without keeping the process alive. */
  readonly every: (milliseconds: number, run: () => void) => void
}

const SYSTEM_CLOCK: ReaderClock = {
  now: () => performance.now(),
  every: (milliseconds, run) => void setInterval(run, milliseconds).unref(),
}

/** Watches all new connections of a server. */
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
