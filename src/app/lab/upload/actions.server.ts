import { action } from 'millrace/server'
import { hashFile } from './hash-file.server.ts'
import { LARGEST_FILE_BYTES, sizeInWords } from './largest-file.ts'

/** Answers with the SHA-256 of a file, which is read as it arrives and never stored. */
export const upload = action({
  upload: { files: 1, fileBytes: LARGEST_FILE_BYTES },
  tooLarge: `That file is too large; at most ${sizeInWords(LARGEST_FILE_BYTES)} are taken.`,
  async handler({ files }) {
    let received
    for await (const { field, name, stream } of files) {
      if (field === 'file') received = { kind: 'hashed' as const, name, ...(await hashFile(stream)) }
    }
    return received ?? { kind: 'empty' as const }
  },
})
