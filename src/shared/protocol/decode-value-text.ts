import { createValueDecoder, type Rejection } from './decode-values.ts'
import type { HydrationValues, TextStream } from './hydration-data.ts'

/**
 * Decodes the text of `encodeValues`; resolves as soon as everything but the deferred values has arrived.
 * @returns rejects with the error of the stream, or an Error for an incomplete or malformed text. So do promises in the
 * values that are open then.
 */
export function decodeValues<Values = HydrationValues>(stream: TextStream, rejection?: Rejection): Promise<Values> {
  return new Promise((resolve, reject) => {
    const decoder = createValueDecoder(rejection)
    const reader = stream.getReader()
    const read = async (): Promise<void> => {
      for (;;) {
        const { done, value = '' } = await reader.read()
        if (done) return decoder.end()
        const root = decoder.push(value)
        if (root !== undefined) resolve(root.value as Values)
      }
    }
    read().catch((reason: unknown) => {
      decoder.fail(reason)
      reject(reason)
      reader.cancel(reason).catch(() => undefined)
    })
  })
}
