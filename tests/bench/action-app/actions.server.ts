import { action } from 'millrace/server'
import { entrySchema, openEntries } from './entries.ts'

const entries = new Map<string, ReturnType<typeof openEntries>>()

/** Stores a small form. */
export const store = action({
  input: entrySchema,
  handler({ input, context: { dataDir } }) {
    let own = entries.get(dataDir)
    if (own === undefined) entries.set(dataDir, (own = openEntries(dataDir)))
    own.add(input)
  },
})

/** Reads files and keeps nothing. */
export const read = action({
  upload: { files: 1, fileBytes: 2 ** 31 },
  async handler({ files }) {
    let bytes = 0
    for await (const { stream } of files) {
      for await (const chunk of stream as AsyncIterable<Uint8Array>) bytes += chunk.byteLength
    }
    return { bytes }
  },
})
