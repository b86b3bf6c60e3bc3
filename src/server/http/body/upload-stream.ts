import { Readable } from 'node:stream'
import type { UploadedFile } from './uploaded-file.ts'
import { overLimit } from './body-error.ts'
import type { PartHead } from './part-head.ts'
import type { PartReader } from './part-reader.ts'

/** A file on its way to the handler. */
export interface Upload {
  readonly file: UploadedFile
  /** Whether somebody has begun to read it. */
  isTaken(): boolean
  /** Fulfilled when its stream is over, on whichever way. */
  readonly closed: Promise<void>
}

/**
 * Opens the part that the reader stands in. Its bytes are read from the socket as they are read from the stream.
 * @param first bytes of the part that have been read already.
 * @param maximum bytes; one more fails stream and reader.
 */
export function openUpload(
  parts: PartReader,
  head: PartHead,
  first: Buffer | undefined,
  maximum: number,
  signal: AbortSignal,
): Upload {
  let ahead = first
  let received = 0

  async function pull(): Promise<void> {
    const bytes = ahead ?? (await parts.nextData())
    ahead = undefined
    received += bytes?.length ?? 0
    if (received > maximum) {
      const error = overLimit('fileBytes', maximum)
      parts.fail(error)
      throw error
    }
    stream.push(bytes ?? null)
  }

  const stream = new Readable({
    read() {
      pull().catch((error: unknown) => stream.destroy(error as Error))
    },
  })
  const cutOff = () => void stream.destroy(signal.reason as Error)
  const closed = new Promise<void>((resolve) => {
    stream.once('close', () => {
      signal.removeEventListener('abort', cutOff)
      resolve()
    })
  })
  // The fault reaches the handler by the iteration too; a stream that nobody looks at must not end the process by it.
  stream.on('error', () => undefined)
  if (signal.aborted) cutOff()
  else signal.addEventListener('abort', cutOff)
  return {
    file: { field: head.name, name: head.filename ?? '', type: head.type, stream },
    isTaken: () => stream.readableFlowing !== null || stream.readableDidRead || stream.destroyed,
    closed,
  }
}
