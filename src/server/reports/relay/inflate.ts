import { Readable, pipeline, type Transform } from 'node:stream'
import zlib from 'node:zlib'
import { BodyError } from '../../http/body/body-error.ts'

/** Accepted content codings, in the format of `Accept-Encoding`. */
export const ACCEPTED_CODINGS = 'gzip, deflate, br, zstd'

/** Output chunk of the inflater, in bytes; its default of 16 KiB would switch threads four times as often. */
const PIECE_BYTES = 65_536

/** log2 of bytes: the window that every HTTP decoder must support, and the largest that it needs to (RFC 9659). */
const ZSTD_WINDOW = 23

/** Whether an inflater takes megabytes from the first bytes on: a hundred bytes of brotli name a window of 16 MiB. */
export function hasLargeWindow(coding: string | undefined): boolean {
  return codingOf(coding) === 'br'
}

function codingOf(coding = ''): string {
  return coding.trim().toLowerCase()
}

/**
 * Creates the inflater of a content coding.
 * @param coding the `Content-Encoding` header.
 * @returns `undefined` for uncompressed bodies.
 * @throws {BodyError} 415 for an unsupported coding, or several.
 */
export function createInflater(coding: string | undefined): Transform | undefined {
  const chunkSize = PIECE_BYTES
  switch (codingOf(coding)) {
    case '':
    case 'identity':
      return undefined
    case 'gzip':
    case 'x-gzip':
      return zlib.createGunzip({ chunkSize })
    case 'deflate':
      return zlib.createInflate({ chunkSize })
    case 'br':
      return zlib.createBrotliDecompress({ chunkSize })
    case 'zstd':
      return zlib.createZstdDecompress({
        chunkSize,
        params: { [zlib.constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW },
      })
    default:
      throw new BodyError(415, 'An unsupported content coding')
  }
}

/**
 * Inflates chunk by chunk, at the pace of the reader; leaving the iteration ends the inflater.
 * @throws {BodyError} 400 for bytes that are invalid in this coding, and for a truncated body.
 * @throws errors of `chunks`.
 */
export async function* inflate(chunks: AsyncIterable<Buffer>, inflater: Transform): AsyncGenerator<Buffer, void> {
  const failed: { error?: unknown } = {}
  async function* watched(): AsyncGenerator<Buffer, void> {
    try {
      yield* chunks
    } catch (error) {
      failed.error = error
      throw error
    }
  }
  pipeline(Readable.from(watched(), { objectMode: false }), inflater, () => undefined)
  try {
    for await (const piece of inflater) yield piece as Buffer
  } catch (error) {
    if (failed.error !== undefined) throw failed.error
    throw error instanceof BodyError ? error : new BodyError(400, 'The body is invalid in its content coding')
  }
}
