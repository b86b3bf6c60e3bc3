import type { IncomingMessage } from 'node:http'
import { BodyError, overLimit } from './body-error.ts'
import { parsedBody } from './parsed-body.ts'
import type { NestedNames } from './parsed-fields.ts'
import type { BodyLimits } from './body-limits.ts'
import { createBodyPace } from './body-pace.ts'

/**
 * A request's body, read chunk by chunk on demand. Between reads, nothing is taken from the socket, no time counts
 * against the client, and the request has none of our listeners.
 */
export interface BodySource {
  /**
   * The next chunk, or `undefined` at the end. One call at a time.
   * @throws {BodyError} 408 for a client that is too slow, 413 above the limit, 400 for a connection that ends early.
   * @throws the signal's reason once it is aborted, and the error that `close` was given.
   */
  read(): Promise<Buffer | undefined>
  /** Stops reading; a pending read fails with this error. */
  close(error: unknown): void
}

const EVENTS = ['readable', 'end', 'error', 'close'] as const

/** How a body is read. */
interface BodySourceOptions extends Pick<BodyLimits, 'bytes' | 'timeoutMs'> {
  /** For a form that a parser in front has nested; default: `brackets`. */
  readonly names?: NestedNames
  /** Only the beginning is wanted, whatever length is declared. Otherwise a declared length over `bytes` is refused unread. */
  readonly partial?: boolean
}

/**
 * Opens the body of a request that is unread, or that an earlier parser has read to its end.
 * @param now a monotonic clock in ms.
 */
export function openBodySource(
  req: IncomingMessage,
  { bytes: maximum, timeoutMs, names, partial = false }: BodySourceOptions,
  signal: AbortSignal,
  now: () => number = () => performance.now(),
): BodySource {
  let received = 0
  const pace = createBodyPace()
  let closed: { readonly error: unknown } | undefined
  let wake: (() => void) | undefined
  let isParsed = req.readableEnded
  const isTooLong = !partial && !isParsed && Number(req.headers['content-length'] ?? 0) > maximum

  /** Waits for the next event of the request. */
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
      const timer = setTimeout(
        () => settle(() => reject(new BodyError(408, 'The client was silent for too long'))),
        timeoutMs,
      )
      for (const event of EVENTS) req.on(event, wakeUp)
      signal.addEventListener('abort', wakeUp)
      wake = wakeUp
    })
    pace.wait(now() - since)
  }

  function count(chunk: Buffer): Buffer {
    received += chunk.length
    if (received > maximum) throw overLimit('bytes', maximum)
    if (pace.isTooSlow(chunk.length)) throw new BodyError(408, 'The body is too slow')
    return chunk
  }

  /** Once. @throws {BodyError} if the parser has not kept the whole body. */
  function readParsed(): Buffer | undefined {
    const parsed = isParsed ? parsedBody(req, names) : undefined
    isParsed = false
    return parsed
  }

  async function read(): Promise<Buffer | undefined> {
    if (isTooLong) throw overLimit('bytes', maximum)
    for (;;) {
      if (closed !== undefined) throw closed.error
      if (signal.aborted) throw signal.reason
      const parsed = readParsed()
      if (parsed !== undefined && parsed.length > 0) return count(parsed)
      const chunk = req.read() as Buffer | null
      if (chunk !== null) return count(chunk)
      // Everything is read; the `end` event follows in a later turn.
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
