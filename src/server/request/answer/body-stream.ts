import type { ServerResponse } from 'node:http'
import { pipeline } from 'node:stream'
import { createStreamEncoder, type Encoding } from '../../http/content-encoding.ts'
import { GzipMember, type GzipStart } from '../../http/gzip-member.ts'

/** More is compressed off the main thread: it takes half a millisecond and more. */
const MOST_AT_ONCE_BYTES = 65_536

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

/**
 * As `createBodyStream`, for a body in gzip whose start was compressed before. It is sent at once, and so is what follows,
 * unless it is so much that compressing it would hold up other requests.
 */
export function continueGzip(res: ServerResponse, start: GzipStart): BodyStream {
  const member = new GzipMember(start)
  const plain = plainBody(res)
  /** What waits for the compressor, in order. */
  const parts: Buffer[] = []
  let waiting = 0
  let isOver = false
  let drained: () => void = () => undefined
  res.write(start.bytes)

  async function compress(): Promise<void> {
    while (parts[0] !== undefined && !res.destroyed) {
      res.write(await member.addLarge(parts[0]))
      waiting -= parts.shift()?.length ?? 0
    }
    if (isOver) res.end(member.end())
    else if (plain.hasCapacity()) drained()
  }

  return {
    ...plain,
    hasCapacity: () => waiting === 0 && plain.hasCapacity(),
    unread: () => waiting + plain.unread(),
    write(chunk) {
      const part = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
      if (waiting === 0 && part.length <= MOST_AT_ONCE_BYTES) return void res.write(member.add(part))
      const isIdle = waiting === 0
      for (let at = 0; at < part.length; at += MOST_AT_ONCE_BYTES)
        parts.push(part.subarray(at, at + MOST_AT_ONCE_BYTES))
      waiting += part.length
      if (isIdle) compress().catch(plain.destroy)
    },
    end() {
      isOver = true
      if (waiting === 0) res.end(member.end())
    },
    onDrain(listener) {
      plain.onDrain(listener)
      drained = listener
    },
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
