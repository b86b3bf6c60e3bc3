import zlib from 'node:zlib'
import { describe, expect, test } from 'vitest'
import {
  createStreamEncoder,
  encodeWhole,
  ENCODINGS,
  negotiateEncoding,
  type Encoding,
} from '../../../src/server/http/content-encoding.ts'

const decoders = { zstd: zlib.zstdDecompressSync, br: zlib.brotliDecompressSync, gzip: zlib.gunzipSync }
const partial = {
  zstd: { finishFlush: zlib.constants.ZSTD_e_flush },
  br: { finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH },
  gzip: { finishFlush: zlib.constants.Z_SYNC_FLUSH },
}
const decode = (encoding: Encoding, bytes: Buffer): string => decoders[encoding](bytes, partial[encoding]).toString()

describe('the coding of an answer', () => {
  test.for([
    [undefined, undefined],
    ['', undefined],
    ['*', 'zstd'],
    ['gzip, deflate, br, zstd', 'zstd'],
    ['gzip, deflate, br', 'br'],
    ['GZIP', 'gzip'],
    ['gzip;q=0', undefined],
    ['gzip;q=0.001', 'gzip'],
    [' br ; q=0.2 , gzip ; q=0.3 ', 'gzip'],
    ['*;q=0', undefined],
    ['*;q=0, br', 'br'],
    ['zstd;q=0, br;q=0, *', 'gzip'],
    ['identity, gzip;q=0.9', undefined],
    ['identity;q=0.5, gzip;q=0.5', 'gzip'],
    ['identity;q=0', undefined],
    ['gzip;q=2', undefined],
    ['gzip;q=x', undefined],
    ['deflate, compress', undefined],
    ['x'.repeat(1_025), undefined],
  ] as const)('for %j is %s', ([accept, expected]) => {
    expect(negotiateEncoding(accept)).toBe(expected)
  })

  test('is one of those that there are', () => {
    expect(negotiateEncoding('zstd, br, gzip', ['gzip'])).toBe('gzip')
    expect(negotiateEncoding('zstd, br, gzip', [])).toBeUndefined()
  })
})

describe.for(ENCODINGS)('%s', (encoding) => {
  test('gives a whole answer back', async () => {
    const text = 'text '.repeat(500)
    const encoded = await encodeWhole(encoding, Buffer.from(text))
    expect(encoded.length).toBeLessThan(text.length)
    expect(decoders[encoding](encoded).toString()).toBe(text)
  })

  test('hands every flushed chunk over at once', async () => {
    const { stream, flush } = createStreamEncoder(encoding)
    let encoded = Buffer.alloc(0)
    stream.on('data', (bytes: Buffer) => (encoded = Buffer.concat([encoded, bytes])))
    for (const expected of ['one', 'one two', 'one two three']) {
      stream.write(expected.slice(expected.lastIndexOf(' ') + 1 === 0 ? 0 : expected.lastIndexOf(' ')))
      flush()
      await expect.poll(() => (encoded.length === 0 ? '' : decode(encoding, encoded))).toBe(expected)
    }
    stream.destroy()
  })
})
