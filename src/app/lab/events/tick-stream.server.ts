import { setTimeout as delay } from 'node:timers/promises'

/** How a tick stream runs. */
export interface TickStreamOptions {
  /** Between two ticks, in ms. */
  readonly everyMs: number
  /** The stream ends by itself after so many. */
  readonly mostTicks: number
  /** Ends the stream, and is no error. */
  readonly signal: AbortSignal
}

/**
 * Server-sent events (WHATWG HTML, section 9.2): the first tick at once, then one every `everyMs`. It makes the next
 * only when the one before has been taken, so that a slow reader holds no queue.
 */
export function createTickStream({ everyMs, mostTicks, signal }: TickStreamOptions): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const cancelled = new AbortController()
  const stop = AbortSignal.any([signal, cancelled.signal])
  let tick = 0
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (tick > 0) await delay(everyMs, undefined, { signal: stop }).catch(ignoreAbort)
        if (stop.aborted || tick === mostTicks) {
          if (!cancelled.signal.aborted) controller.close()
          return
        }
        tick += 1
        controller.enqueue(encoder.encode(`id: ${tick}\nevent: tick\ndata: ${JSON.stringify({ tick })}\n\n`))
      },
      cancel() {
        cancelled.abort()
      },
    },
    { highWaterMark: 0 },
  )
}

function ignoreAbort(thrown: unknown): void {
  if (!(thrown instanceof Error && thrown.name === 'AbortError')) throw thrown
}
