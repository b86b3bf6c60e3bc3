import { encode } from 'turbo-stream'
import type { HandOffValues, TextStream } from './hand-off.ts'

/** An `AbortSignal`, whose type this folder does not know. */
export interface AbortSignalLike {
  readonly aborted: boolean
}

/**
 * The chunks of values that JSON cannot say; read by `decodeValues`.
 * @param values its rejections must already be `RejectedValue`.
 * @param signal ends the stream with an error.
 */
export function encodeValues(values: HandOffValues, signal: AbortSignalLike): TextStream {
  return encode(values, { signal: signal as never }) as unknown as TextStream
}
