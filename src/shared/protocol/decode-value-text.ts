import { createValueDecoder, type Rejection } from './decode-values.ts'
import type { HydrationValues, TextStream } from './hydration-data.ts'

/**
 * Reads what `encodeValues` wrote; settles as soon as all but the deferred values are here.
 * @returns rejects with what the stream fails with, or an Error for a text that is not complete and well-formed. So do
 *   the promises in the values that are open then.
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
