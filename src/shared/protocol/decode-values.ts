import { decode } from 'turbo-stream'
import type { HandOffValues, TextStream } from './hand-off.ts'

/**
 * Reads what `encodeValues` wrote; settles as soon as all but the deferred values are here. Apart from the encoder and
 * from the rest of the hand-off, because the browser loads it only for documents that need it.
 */
export function decodeValues(stream: TextStream): Promise<HandOffValues> {
  return decode<HandOffValues>(stream as never)
}
