import { promisify } from 'node:util'
import zlib from 'node:zlib'

/** Content codings this server can produce, in the order it prefers them. */
export const ENCODINGS = ['zstd', 'br', 'gzip'] as const
/** One of `ENCODINGS`. */
export type Encoding = (typeof ENCODINGS)[number]

/** File name ending of a precompressed variant. */
export const ENCODING_SUFFIX: Readonly<Record<Encoding, string>> = { zstd: '.zst', br: '.br', gzip: '.gz' }

/** No browser sends a longer header; it is ignored. */
const MAX_ACCEPT_ENCODING = 1_024

/**
 * Picks the coding for an answer (RFC 9110, section 12.5.3): the client's highest weight, then our preference.
 * @returns `undefined` to send the answer unencoded.
 */
export function negotiateEncoding(
  accept: string | undefined,
  offered: readonly Encoding[] = ENCODINGS,
): Encoding | undefined {
  if (accept === undefined || accept === '' || accept.length > MAX_ACCEPT_ENCODING) return undefined
  const weights = new Map<string, number>()
  for (const part of accept.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';')
    const quality = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith('q='))
    const weight = quality === undefined ? 1 : Number(quality.slice(2))
    if (weight >= 0 && weight <= 1) weights.set(name.trim(), weight)
  }
  const any = weights.get('*') ?? 0
  const identity = weights.get('identity') ?? 0
  let best: Encoding | undefined
  let bestWeight = 0
  for (const encoding of offered) {
    const weight = weights.get(encoding) ?? any
    if (weight > bestWeight) {
      best = encoding
      bestWeight = weight
    }
  }
  return bestWeight >= identity ? best : undefined
}

// Levels for answers made on the fly: above these, time grows much faster than the answer shrinks.
const BROTLI = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } }
const ZSTD = { params: { [zlib.constants.ZSTD_c_compressionLevel]: 3 } }
const GZIP = { level: 6 }

// A compressor of a streamed answer lives as long as that answer. With a window and tables this small, one takes a third of
// the memory, and its results are within 3 % of those above (docs/decisions/0020).
const ZSTD_STREAM = {
  params: {
    ...ZSTD.params,
    [zlib.constants.ZSTD_c_windowLog]: 17,
    [zlib.constants.ZSTD_c_hashLog]: 15,
    [zlib.constants.ZSTD_c_chainLog]: 14,
  },
}
const BROTLI_STREAM = {
  params: {
    ...BROTLI.params,
    [zlib.constants.BROTLI_PARAM_LGWIN]: 17,
    // Without it, a first part of a mebibyte decides for a table of four.
    [zlib.constants.BROTLI_PARAM_SIZE_HINT]: 65_536,
  },
}

/** Memory of a compressor by `createStreamEncoder` after 100 kB, as measured with Node 26. */
export const STREAM_ENCODER_BYTES: Readonly<Record<Encoding, number>> = { zstd: 524_288, br: 1_048_576, gzip: 327_680 }

/** A compressor, and a way to flush it. */
interface StreamEncoder {
  readonly stream: zlib.BrotliCompress | zlib.Gzip | zlib.ZstdCompress
  readonly flush: () => void
}

/**
 * A compressor for a streamed answer. Its owner must destroy it: garbage collection does not free its native memory.
 */
export function createStreamEncoder(encoding: Encoding): StreamEncoder {
  const { constants } = zlib
  switch (encoding) {
    case 'zstd': {
      const stream = zlib.createZstdCompress(ZSTD_STREAM)
      return { stream, flush: () => stream.flush(constants.ZSTD_e_flush) }
    }
    case 'br': {
      const stream = zlib.createBrotliCompress(BROTLI_STREAM)
      return { stream, flush: () => stream.flush(constants.BROTLI_OPERATION_FLUSH) }
    }
    case 'gzip': {
      const stream = zlib.createGzip(GZIP)
      return { stream, flush: () => stream.flush(constants.Z_SYNC_FLUSH) }
    }
  }
}

const zstd = promisify(zlib.zstdCompress)
const brotli = promisify(zlib.brotliCompress)
const gzip = promisify(zlib.gzip)

/** Compresses a complete answer, off the main thread. */
export function encodeWhole(encoding: Encoding, body: Buffer): Promise<Buffer> {
  switch (encoding) {
    case 'zstd':
      return zstd(body, ZSTD)
    case 'br':
      return brotli(body, BROTLI)
    case 'gzip':
      return gzip(body, GZIP)
  }
}

/** Below this many bytes, a compressed answer saves no packet. */
export const MIN_ENCODED_BYTES = 1_024
