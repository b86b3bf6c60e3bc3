import { Readable } from 'node:stream'
import type { UploadedFile } from './uploaded-file.ts'
import { ofFile, overLimit } from './body-error.ts'
import type { PartHead } from './part-head.ts'
import type { PartReader } from './part-reader.ts'

/** An upload that a handler can read. */
export interface Upload {
  readonly file: UploadedFile
  /** Whether the handler has started to read it. */
  isTaken(): boolean
  /** Resolves when its stream has ended or failed. */
  readonly closed: Promise<void>
}

/** The file part at which the reader is. */
export interface FilePart {
  readonly head: PartHead
  /** Bytes of the part that are already read. */
  readonly first: Buffer | undefined
}

/**
 * Opens a file part as a stream; reading the stream reads from the socket.
 * @param maximum bytes; one more fails stream and reader.
 */
export function openUpload(parts: PartReader, { head, first }: FilePart, maximum: number, signal: AbortSignal): Upload {
  let ahead = first
  let received = 0

  async function pull(): Promise<void> {
    const bytes = ahead ?? (await parts.nextData())
    ahead = undefined
    received += bytes?.length ?? 0
    if (received > maximum) {
      const error = ofFile(overLimit('fileBytes', maximum), { field: head.name })
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
  // Iteration throws the error as well; for an unread stream it must not become an uncaught one.
  stream.on('error', () => undefined)
  if (signal.aborted) cutOff()
  else signal.addEventListener('abort', cutOff)
  return {
    file: { field: head.name, name: head.filename ?? '', type: head.type, stream },
    isTaken: () => stream.readableFlowing !== null || stream.readableDidRead || stream.destroyed,
    closed,
  }
}
