import { promisify } from 'node:util'
import { constants, crc32, deflateRaw, deflateRawSync } from 'node:zlib'

/** A part of an answer that was compressed before: the start of a gzip member (RFC 1952). */
export interface GzipStart {
  /** The header, and blocks of deflate that end at a byte by a flush. */
  readonly bytes: Buffer
  /** Of the part without its coding. */
  readonly crc: number
  /** Bytes of the part without its coding. */
  readonly length: number
}

const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]) // deflate; no name, no time, unknown system
const LAST_BLOCK = Buffer.from([1, 0, 0, 0xff, 0xff]) // stored, and empty
const LEVEL = 6 // made once and sent often
/** Below this many bytes, a compressor costs more time than it saves on the way. A stored block may have 65,535. */
const LEAST_DEFLATED_BYTES = 2_048
const LATER = { level: 1, windowBits: 12, memLevel: 5, finishFlush: constants.Z_SYNC_FLUSH }

const deflate = promisify(deflateRaw)

/** Compresses the part with which many answers start, off the main thread. */
export async function startGzip(part: Buffer): Promise<GzipStart> {
  const blocks = await deflate(part, { level: LEVEL, finishFlush: constants.Z_SYNC_FLUSH })
  return { bytes: Buffer.concat([HEADER, blocks]), crc: crc32(part), length: part.length }
}

/**
 * An answer in one gzip member, whose start was compressed before. Not a member for each part: Chromium ignores what
 * follows the first.
 */
export class GzipMember {
  #crc: number
  #length: number

  /** @param start its bytes are sent first. */
  constructor({ crc, length }: GzipStart) {
    this.#crc = crc
    this.#length = length
  }

  /** The bytes of the next part; the client can read all of it. */
  add(part: Buffer): Buffer {
    this.#count(part)
    return part.length < LEAST_DEFLATED_BYTES ? stored(part) : deflateRawSync(part, LATER)
  }

  /** As `add`, off the main thread: a megabyte takes ten milliseconds. Wait for it before the next part. */
  addLarge(part: Buffer): Promise<Buffer> {
    this.#count(part)
    return deflate(part, LATER)
  }

  #count(part: Buffer): void {
    this.#crc = crc32(part, this.#crc)
    this.#length += part.length
  }

  /** The last bytes. */
  end(): Buffer {
    const trailer = Buffer.alloc(8)
    trailer.writeUInt32LE(this.#crc, 0)
    trailer.writeUInt32LE(this.#length % 2 ** 32, 4)
    return Buffer.concat([LAST_BLOCK, trailer])
  }
}

function stored(part: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt16LE(part.length, 1)
  head.writeUInt16LE(part.length ^ 0xffff, 3)
  return Buffer.concat([head, part])
}
