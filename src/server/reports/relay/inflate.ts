import { Readable, pipeline, type Transform } from 'node:stream'
import zlib from 'node:zlib'
import { BodyError } from '../../http/body/body-error.ts'

/** Content codings that are taken, as `Accept-Encoding` lists them. */
export const TAKEN_CODINGS = 'gzip, deflate, br, zstd'

/** Bytes that leave the inflater together; its default of 16 KiB would cross threads four times as often. */
const PIECE_BYTES = 65_536

/** log2 of bytes: what every decoder of HTTP bodies must have, and no more need have (RFC 9659). */
const ZSTD_WINDOW = 23

/**
 * Opens a content coding.
 * @param coding the `Content-Encoding` header.
 * @returns `undefined` for bodies that come as they are.
 * @throws {BodyError} 415 for a coding that is not taken, or several.
 */
export function createInflater(coding: string | undefined): Transform | undefined {
  const chunkSize = PIECE_BYTES
  switch ((coding ?? '').trim().toLowerCase()) {
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
      throw new BodyError(415, 'A content coding that is not taken')
  }
}

/**
 * Inflates chunk by chunk, no faster than the result is read; leaving the iteration ends the inflater.
 * @throws {BodyError} 400 for bytes that are not of this coding, and for a body that ends too early.
 * @throws what `chunks` throws.
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
    throw error instanceof BodyError ? error : new BodyError(400, 'The body is not what its content coding says')
  }
}
