import type { IncomingMessage } from 'node:http'
import { BodyError, overLimit } from './body-error.ts'
import { parsedBody } from './parsed-body.ts'
import { MIN_BYTES_PER_SECOND, RATE_GRACE_MS, type BodyLimits } from './body-limits.ts'

/**
 * A request's body, chunk by chunk, as it is asked for. While nobody asks, nothing is read from the socket, no time
 * counts against the client, and the request has no listener of ours.
 */
export interface BodySource {
  /**
   * The next chunk, or `undefined` at the end. One call at a time.
   * @throws {BodyError} 408 for a client that keeps us waiting, 413 above the limit, 400 for a connection that ends early.
   * @throws the signal's reason once it is aborted, and the error that `close` was given.
   */
  read(): Promise<Buffer | undefined>
  /** Nothing more is read; a read under way fails with this. */
  close(error: unknown): void
}

const EVENTS = ['readable', 'end', 'error', 'close'] as const

/**
 * Opens the body of a request that nobody has read from, or that a parser in front has read to its end.
 * @param now a clock in ms that never goes back.
 */
export function openBodySource(
  req: IncomingMessage,
  { bytes: maximum, timeoutMs }: Pick<BodyLimits, 'bytes' | 'timeoutMs'>,
  signal: AbortSignal,
  now: () => number = () => performance.now(),
): BodySource {
  let received = 0
  let waitedMs = 0
  let closed: { readonly error: unknown } | undefined
  let wake: (() => void) | undefined
  let isParsed = req.readableEnded

  /** Waits until something has happened to the request. */
  async function change(): Promise<void> {
    const since = now()
    await new Promise<void>((resolve, reject) => {
      const settle = (done: () => void) => {
        clearTimeout(timer)
        for (const event of EVENTS) req.off(event, wakeUp)
        signal.removeEventListener('abort', wakeUp)
        wake = undefined
        done()
      }
      const wakeUp = () => settle(resolve)
      const timer = setTimeout(() => settle(() => reject(new BodyError(408, 'No byte came in time'))), timeoutMs)
      for (const event of EVENTS) req.on(event, wakeUp)
      signal.addEventListener('abort', wakeUp)
      wake = wakeUp
    })
    waitedMs += now() - since
  }

  function count(chunk: Buffer): Buffer {
    received += chunk.length
    if (received > maximum) throw overLimit('bytes', maximum)
    if (waitedMs > RATE_GRACE_MS && received < (waitedMs / 1_000) * MIN_BYTES_PER_SECOND) {
      throw new BodyError(408, 'The body comes too slowly')
    }
    return chunk
  }

  /** Once. @throws {BodyError} for one that the parser has not left whole. */
  function readParsed(): Buffer | undefined {
    const parsed = isParsed ? parsedBody(req) : undefined
    isParsed = false
    return parsed
  }

  async function read(): Promise<Buffer | undefined> {
    for (;;) {
      if (closed !== undefined) throw closed.error
      if (signal.aborted) throw signal.reason
      const parsed = readParsed()
      if (parsed !== undefined && parsed.length > 0) return count(parsed)
      const chunk = req.read() as Buffer | null
      if (chunk !== null) return count(chunk)
      // All of it was there and has been read: that it has ended is said in a later turn.
      if (req.readableEnded || (req.complete && req.readableLength === 0)) return undefined
      if (req.destroyed) throw new BodyError(400, 'The connection ended before the body')
      await change()
    }
  }

  return {
    read,
    close(error) {
      closed ??= { error }
      wake?.()
    },
  }
}
