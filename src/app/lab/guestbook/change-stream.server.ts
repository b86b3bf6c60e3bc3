import type { Guestbook } from './guestbook.server.ts'

/** What a change stream runs on. */
export interface ChangeStreamOptions {
  readonly guestbook: Pick<Guestbook, 'revision' | 'onChange'>
  /** After so many ms without a change a comment is sent, so that nothing in between takes the connection for dead. */
  readonly keepAliveMs: number
  /** Ends the stream, and is no error. */
  readonly signal: AbortSignal
  /** Called once, when the stream has ended, on whichever way. */
  readonly onEnd?: () => void
}

/**
 * Server-sent events (WHATWG HTML, section 9.2): `changed` with the guestbook's revision, at once and then after every
 * change. Changes that come faster than the reader takes them are told as one.
 */
export function createChangeStream(options: ChangeStreamOptions): ReadableStream<Uint8Array> {
  const { guestbook, keepAliveMs, signal, onEnd } = options
  const encoder = new TextEncoder()
  let told: number | undefined
  let ended = false
  let timer: NodeJS.Timeout | undefined
  let wake = (): void => undefined
  let forget = (): void => undefined

  function end(): void {
    if (ended) return
    ended = true
    signal.removeEventListener('abort', end)
    forget()
    wake()
    onEnd?.()
  }

  function nextNews(): Promise<void> {
    return new Promise((resolve) => {
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
      timer = setTimeout(resolve, keepAliveMs)
    })
  }

  return new ReadableStream<Uint8Array>(
    {
      start() {
        forget = guestbook.onChange(() => wake())
        if (signal.aborted) end()
        else signal.addEventListener('abort', end)
      },
      async pull(controller) {
        try {
          if (!ended && told === guestbook.revision()) await nextNews()
          if (ended) return closeQuietly(controller)
          const revision = guestbook.revision()
          const text =
            revision === told ? ':\n\n' : `id: ${revision}\nevent: changed\ndata: ${JSON.stringify({ revision })}\n\n`
          told = revision
          controller.enqueue(encoder.encode(text))
        } catch (thrown) {
          end()
          throw thrown
        }
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  )
}

/** A stream that its reader has cancelled is closed already. */
function closeQuietly(controller: ReadableStreamDefaultController<Uint8Array>): void {
  if (controller.desiredSize !== null) controller.close()
}
