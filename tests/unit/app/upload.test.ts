import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { hashFile } from '../../../src/app/lab/upload/hash-file.server.ts'
import { sizeInWords } from '../../../src/app/lab/upload/largest-file.ts'

describe('an upload', () => {
  it('is hashed over all of its chunks', async () => {
    expect(await hashFile(Readable.from([Buffer.from('a'), Buffer.from('bc')]))).toEqual({
      bytes: 3,
      // FIPS 180-2, appendix B.1
      sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    })
    expect((await hashFile(Readable.from([]))).bytes).toBe(0)
  })

  it('fails with what its stream fails with', async () => {
    const cut = Readable.from(
      (async function* () {
        yield Buffer.from('a')
        throw new RangeError('cut off')
      })(),
    )
    await expect(hashFile(cut)).rejects.toThrow(new RangeError('cut off'))
  })

  it.each([
    [0, '0 bytes'],
    [1, '1 byte'],
    [1_536, '1.5 KiB'],
    [33_554_432, '32 MiB'],
    [33_554_433, '32.1 MiB'],
  ])('of %i bytes has %s', (bytes, words) => {
    expect(sizeInWords(bytes)).toBe(words)
  })
})
