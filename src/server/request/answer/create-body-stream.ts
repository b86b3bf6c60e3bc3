import type { ServerResponse } from 'node:http'
import { pipeline } from 'node:stream'
import { createStreamEncoder } from '../../http/content-encoding.ts'
import { plainBody, type BodyStream } from './body-stream.ts'
import type { StreamEncoding } from './stream-encoding.ts'

/** What is compressed in one turn: a millisecond or two. */
const PIECE_BYTES = 65_536

interface Piece {
  readonly bytes: Buffer
  /** Whether the client can then read all that was written. */
  readonly isLast: boolean
}

/**
 * The body of an answer whose headers have been sent. With an encoding, each chunk is flushed through the compressor,
 * which is destroyed with the response.
 */
export function createBodyStream(res: ServerResponse, encoding: StreamEncoding | undefined): BodyStream {
  return encoding === undefined ? plainBody(res) : compressedBody(res, encoding)
}

/**
 * Pieces wait for a turn, and a client that has read its answers so far: one that
 * does not read keeps no turn from others.
 */
function compressedBody(res: ServerResponse, { encoding, run, hold }: StreamEncoding): BodyStream {
  const { stream, flush } = createStreamEncoder(encoding)
  const pieces: Piece[] = []
  const drained: (() => void)[] = []
  /** Bytes of the pieces. */
  let waiting = 0
  let isRunning = false
  let isOver = false
  let endTurn = (): void => undefined
  let goOn = (): void => undefined
  pipeline(stream, res, () => stream.destroy())
  // The compressor stands still as long as the client does not read.
  stream.on('pause', () => endTurn())
  stream.on('close', () => {
    keep(-waiting)
    pieces.length = 0
    endTurn()
    goOn()
  })
  res.on('drain', () => {
    goOn()
    if (!isRunning) tellDrained()
  })

  function keep(bytes: number): void {
    waiting += bytes
    hold(bytes)
  }

  function hasCapacity(): boolean {
    return waiting < PIECE_BYTES && !res.writableNeedDrain
  }

  function tellDrained(): void {
    if (hasCapacity()) for (const listener of drained) listener()
  }

  function encode({ bytes, isLast }: Piece): Promise<void> {
    return new Promise((resolve) => {
      endTurn = resolve
      if (stream.destroyed) return resolve()
      stream.write(bytes, () => resolve())
      if (isLast) flush()
    })
  }

  async function encodeAll(): Promise<void> {
    isRunning = true
    for (let piece = pieces[0]; piece !== undefined; piece = pieces[0]) {
      if (res.writableNeedDrain) await new Promise<void>((resolve) => (goOn = resolve))
      const one = piece
      if (!stream.destroyed) await run(one.bytes.length, () => encode(one))
      if (stream.destroyed) return
      pieces.shift()
      keep(-one.bytes.length)
    }
    isRunning = false
    if (isOver) stream.end()
    else tellDrained()
  }

  return {
    hasCapacity,
    tellUnread(note) {
      if (note === undefined) return
      const tell = (): void => {
        const inside = waiting + stream.writableLength + stream.readableLength
        note(res.writableLength + (res.writableNeedDrain ? inside : 0))
      }
      stream.on('pause', tell)
      stream.on('end', tell)
      res.on('drain', tell)
      if (res.writableNeedDrain || waiting + stream.writableLength === 0) tell()
    },
    write(chunk) {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
      if (stream.destroyed || bytes.length === 0) return
      keep(bytes.length)
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
        pieces.push({ bytes: bytes.subarray(at, at + PIECE_BYTES), isLast: at + PIECE_BYTES >= bytes.length })
      }
      if (!isRunning) void encodeAll()
    },
    end() {
      isOver = true
      if (!isRunning) stream.end()
    },
    destroy() {
      stream.destroy()
      res.destroy()
    },
    onDrain: (listener) => void drained.push(listener),
  }
}
