import type { Socket } from 'node:net'

/** Bytes of a socket, taken by whoever asks; nothing is read ahead, so a source that nobody asks slows the sender. */
export interface ByteSource {
  /** Exactly so many bytes; fewer only at the end. */
  take(count: number): Promise<Buffer>
  /** Up to and without the next CRLF, which is dropped; `undefined` when the end comes first. */
  line(): Promise<string | undefined>
  /** How many reads of the socket have brought something so far: equal numbers mean "arrived together". */
  arrivals(): number
  /** Whether the connection ended with an error. */
  failed(): boolean
}

const EVENTS = ['readable', 'end', 'close', 'error'] as const

/** Takes over the reading side of a socket that nobody else reads. */
export function createByteSource(socket: Socket): ByteSource {
  const pieces: Buffer[] = []
  const state = { size: 0, arrivals: 0, failed: false }
  socket.on('error', () => (state.failed = true))

  /** Waits for more; `false` at the end. */
  async function more(): Promise<boolean> {
    for (;;) {
      const bytes = socket.read() as Buffer | null
      if (bytes !== null) {
        pieces.push(bytes)
        state.size += bytes.length
        state.arrivals += 1
        return true
      }
      if (socket.destroyed || socket.readableEnded || state.failed) return false
      await new Promise<void>((resolve) => {
        const settle = (): void => {
          for (const event of EVENTS) socket.off(event, settle)
          resolve()
        }
        for (const event of EVENTS) socket.on(event, settle)
      })
    }
  }

  /** All that has come and was not taken, in one piece. */
  function whole(): Buffer {
    const [first] = pieces
    if (pieces.length === 1 && first !== undefined) return first
    const joined = Buffer.concat(pieces)
    pieces.splice(0, pieces.length, joined)
    return joined
  }

  function cut(count: number, dropped = 0): Buffer {
    const all = whole()
    const rest = all.subarray(count + dropped)
    pieces.splice(0, pieces.length, rest)
    state.size = rest.length
    return all.subarray(0, count)
  }

  return {
    async take(count) {
      while (state.size < count && (await more()));
      return cut(Math.min(count, state.size))
    },
    async line() {
      for (;;) {
        const end = whole().indexOf('\r\n')
        if (end >= 0) return cut(end, 2).toString('latin1')
        if (!(await more())) return undefined
      }
    },
    arrivals: () => state.arrivals,
    failed: () => state.failed,
  }
}
