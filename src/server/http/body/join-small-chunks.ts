import type { EventEmitter } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { noteParsed } from '../parsed-work.ts'

/** Joined up to this size; a larger chunk is passed on as it is. */
const JOINED_BYTES = 4_096

/** A client may send this many chunks of any size: a body that is typed, for example. */
const FREE_CHUNKS = 32_768

/** What the chunks of a body must have on the average beyond that. */
const LEAST_CHUNK_BYTES = 16

/** So many take the parser as long as a request does. */
const CHUNKS_OF_REQUEST = 16

/** So often, small chunks are passed on at once; then they wait for others, as a body of one byte in a packet needs it. */
const PASSED_AT_ONCE = 256
const WAIT_MS = 250

/** The part of a message to which Node's parser hands the body. */
interface BodyTarget {
  push(chunk: Buffer | null, encoding?: BufferEncoding): boolean
}

/**
 * Joins the small chunks of a body before the request keeps them. Node makes a Buffer of each chunk, and counts its content
 * only: a body of 65,536 chunks of one byte, which nobody reads, holds 27 MB and not 64 KiB; and a body with a length is such
 * a one if its packets are small. Their parsing takes time, too, so a connection that sends too many is refused as one with
 * malformed bytes. Browsers and proxies send no such chunks.
 *
 * Call it when a request arrives, before its body; a second call does nothing. Bound: 4 KiB for each body that arrives.
 */
export function joinSmallChunks(req: IncomingMessage): void {
  const { 'transfer-encoding': coding, 'content-length': length } = req.headers
  if ((coding === undefined && (length === undefined || Number(length) < 2)) || Object.hasOwn(req, 'push')) return
  const target = req as BodyTarget
  const push = target.push.bind(target)
  /** The first of the small chunks that wait. */
  let first: Buffer | undefined
  /** They are joined here from the second one on. */
  let joined: Buffer | undefined
  let filled = 0
  let chunks = 0
  let bytes = 0
  let passed = 0
  let isRefused = false
  let scheduled: NodeJS.Immediate | undefined
  let timer: NodeJS.Timeout | undefined

  function passOn(): void {
    clearImmediate(scheduled)
    clearTimeout(timer)
    scheduled = timer = undefined
    if (first === undefined) return
    // A copy: what waits for its reader must not keep all of the room.
    const waiting = joined === undefined ? first : Buffer.from(joined.subarray(0, filled))
    first = joined = undefined
    filled = 0
    passed += 1
    if (!req.destroyed) push(waiting)
  }

  function keep(chunk: Buffer): void {
    if (filled + chunk.length > JOINED_BYTES) passOn()
    if (first === undefined) first = chunk
    else {
      if (joined === undefined) {
        joined = Buffer.allocUnsafeSlow(JOINED_BYTES)
        first.copy(joined)
      }
      chunk.copy(joined, filled)
    }
    filled += chunk.length
    if (passed < PASSED_AT_ONCE) scheduled ??= setImmediate(passOn)
    else timer ??= setTimeout(passOn, WAIT_MS)
  }

  target.push = (chunk, encoding) => {
    chunks += 1
    if (chunks % CHUNKS_OF_REQUEST === 0) noteParsed(req.socket)
    // Not even its end: what has come so far would be taken for all of it.
    if (isRefused || req.destroyed) return false
    if (chunk === null) {
      passOn()
      return push(null)
    }
    bytes += chunk.length
    if (chunks > FREE_CHUNKS && bytes < chunks * LEAST_CHUNK_BYTES) {
      isRefused = true
      first = joined = undefined
      refuse(req)
      return false
    }
    if (chunk.length < JOINED_BYTES / 4) {
      keep(chunk)
      return req.readableLength + filled < req.readableHighWaterMark
    }
    passOn()
    return push(chunk, encoding)
  }
}

/** As Node has it for what its parser refuses: `process/limit-connections.ts` answers. */
function refuse({ socket }: IncomingMessage): void {
  const { server } = socket as { readonly server?: EventEmitter }
  const isAnswered =
    server?.emit('clientError', Object.assign(new Error(), { code: 'HPE_INVALID_CHUNK_SIZE' }), socket) ?? false
  if (!isAnswered) socket.resetAndDestroy()
}
