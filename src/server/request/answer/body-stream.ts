import type { ServerResponse } from 'node:http'
import { pipeline } from 'node:stream'
import { createStreamEncoder, type Encoding } from '../../http/content-encoding.ts'
import { GzipMember, type GzipStart } from '../../http/gzip-member.ts'

/** Destination of a streamed answer's chunks. `write` sends every chunk at once: nothing is held back. */
export interface BodyStream {
  /** Whether the client keeps up; if `false`, wait for `onDrain`. */
  hasCapacity(): boolean
  /** Bytes that wait for the client. */
  unread(): number
  write(chunk: Buffer | string): void
  end(): void
  /** Aborts the answer, so that nobody takes it for complete. */
  destroy(): void
  onDrain(listener: () => void): void
}

/**
 * The body of an answer whose headers have been sent. With an encoding, each chunk is flushed through the compressor,
 * which is destroyed with the response.
 */
export function createBodyStream(res: ServerResponse, encoding: Encoding | undefined): BodyStream {
  if (encoding === undefined) return plainBody(res)
  const { stream, flush } = createStreamEncoder(encoding)
  pipeline(stream, res, () => stream.destroy())
  return {
    hasCapacity: () => !stream.writableNeedDrain,
    unread: () => stream.writableLength + stream.readableLength + res.writableLength,
    write(chunk) {
      if (stream.destroyed) return
      stream.write(chunk)
      flush()
    },
    end: () => void stream.end(),
    destroy() {
      stream.destroy()
      res.destroy()
    },
    onDrain: (listener) => void stream.on('drain', listener),
  }
}

/** As `createBodyStream`, for a body in gzip whose start was compressed before. It is sent at once. */
export function continueGzip(res: ServerResponse, start: GzipStart): BodyStream {
  const member = new GzipMember(start)
  res.write(start.bytes)
  return {
    ...plainBody(res),
    write: (chunk) => void res.write(member.add(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)),
    end: () => void res.end(member.end()),
  }
}

function plainBody(res: ServerResponse): BodyStream {
  return {
    hasCapacity: () => !res.writableNeedDrain,
    unread: () => res.writableLength,
    write: (chunk) => void res.write(chunk),
    end: () => void res.end(),
    destroy: () => void res.destroy(),
    onDrain: (listener) => void res.on('drain', listener),
  }
}
