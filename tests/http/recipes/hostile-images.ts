import { deflateSync, crc32 } from 'node:zlib'

/** A PNG that says how large it is and has next to nothing in it. */
export const claimingPng = (width: number, height: number): Buffer => png(width, height, [])

/** A PNG of one pixel, with texts of 7 MB each: decoders allow 8 MB for one and any number of them. */
export function pngWithTexts(count: number): Buffer {
  const text = deflateSync(Buffer.alloc(7_000_000, 'a'))
  const texts = Array.from({ length: count }, (_, n) => chunk('zTXt', Buffer.concat([Buffer.from(`${n}\0\0`), text])))
  return png(1, 1, texts)
}

function png(width: number, height: number, others: readonly Buffer[]): Buffer {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([8, 2], 8) // bits of a channel, RGB
  const pixels = chunk('IDAT', deflateSync(Buffer.alloc(16)))
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([signature, chunk('IHDR', head), ...others, pixels, chunk('IEND', Buffer.alloc(0))])
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data])
  const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  size.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([size, body, sum])
}

/** A grey progressive JPEG: each scan refines one coefficient of all blocks, which costs it a few bytes. */
export function jpegWithScans(pixels: number, scans: number): Buffer {
  const segment = (marker: number, ...data: number[]): Buffer =>
    Buffer.from([0xff, marker, (data.length + 2) >> 8, (data.length + 2) & 255, ...data])
  const table = (kind: number, symbol: number): Buffer => segment(0xc4, kind, 1, ...Array<number>(15).fill(0), symbol)
  const blocks = Math.ceil(pixels / 8) ** 2
  const side = [pixels >> 8, pixels & 255]
  const head = [
    Buffer.from([0xff, 0xd8]),
    segment(0xdb, 0, ...Array<number>(64).fill(1)),
    segment(0xc2, 8, ...side, ...side, 1, 1, 0x11, 0),
    table(0x00, 0),
    table(0x10, 0xe0), // 2^14 blocks end here, and as many more as the next 14 bits say
  ]
  const flat = [segment(0xda, 1, 1, 0, 0, 0, 0), Buffer.alloc(Math.ceil(blocks / 8))]
  const runs = '011111111111111'.repeat(Math.ceil(blocks / 32_767))
  const bytes = runs.match(/.{1,8}/g)?.map((bits) => Number.parseInt(bits.padEnd(8, '1'), 2)) ?? []
  const data = Buffer.from(bytes.flatMap((byte) => (byte === 255 ? [255, 0] : [byte])))
  const refining = Array.from({ length: scans }, (_, n) => {
    const [coefficient, bit] = [1 + Math.floor(n / 14), 13 - (n % 14)]
    return [segment(0xda, 1, 1, 0, coefficient, coefficient, ((bit === 13 ? 0 : bit + 1) << 4) | bit), data]
  })
  return Buffer.concat([...head, ...flat, ...refining.flat(), Buffer.from([0xff, 0xd9])])
}
