import type { ServerResponse } from 'node:http'
import { GzipMember, type GzipStart } from '../../http/gzip-member.ts'

/** More is compressed off the main thread: it takes half a millisecond and more. */
const MOST_AT_ONCE_BYTES = 65_536

/** Destination of a streamed answer's chunks: nothing that was written waits for what follows. */
export interface BodyStream {
  /** Whether the client keeps up; if `false`, wait for `onDrain`. */
  hasCapacity(): boolean
  write(chunk: Buffer | string): void
  end(): void
  /** Aborts the answer, so that nobody takes it for complete. */
  destroy(): void
  onDrain(listener: () => void): void
  /**
   * From now on, notes the bytes that wait for the client: when it falls behind, when it has read them, and once when all
   * that was written before is compressed or the client is behind. Bytes that wait for the compressor alone do not count.
   */
  tellUnread(note: ((bytes: number) => void) | undefined): void
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
  let compressed: () => void = () => undefined
  res.write(start.bytes)

  async function compress(): Promise<void> {
    while (parts[0] !== undefined && !res.destroyed) {
      res.write(await member.addLarge(parts[0]))
      waiting -= parts.shift()?.length ?? 0
    }
    if (isOver) res.end(member.end())
    else if (plain.hasCapacity()) drained()
    compressed()
  }

  return {
    ...plain,
    hasCapacity: () => waiting === 0 && plain.hasCapacity(),
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
    tellUnread(note) {
      if (note === undefined) return
      compressed = () => note(res.writableLength)
      if (waiting === 0) compressed()
    },
  }
}

/** Without an encoding. */
export function plainBody(res: ServerResponse): BodyStream {
  let tell: (() => void) | undefined
  return {
    hasCapacity: () => !res.writableNeedDrain,
    write(chunk) {
      if (!res.write(chunk)) tell?.()
    },
    end: () => void res.end(),
    destroy: () => void res.destroy(),
    onDrain: (listener) => void res.on('drain', listener),
    tellUnread(note) {
      if (note === undefined) return
      tell = () => note(res.writableLength)
      tell()
      res.on('drain', tell)
    },
  }
}
