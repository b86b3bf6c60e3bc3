import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'

/** What is left of a file that was read. */
export interface FileHash {
  readonly bytes: number
  /** Lower-case hexadecimal. */
  readonly sha256: string
}

/**
 * Reads a stream to its end and keeps none of it.
 * @throws what the stream fails with.
 */
export async function hashFile(stream: Readable): Promise<FileHash> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of stream as AsyncIterable<Uint8Array>) {
    hash.update(chunk)
    bytes += chunk.byteLength
  }
  return { bytes, sha256: hash.digest('hex') }
}
