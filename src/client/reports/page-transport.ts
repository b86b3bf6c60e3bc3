import { makeBrowserOfflineTransport, makeFetchTransport, type BrowserOptions } from '@sentry/react'

type MakeTransport = NonNullable<BrowserOptions['transport']>

/** The relay, or what stands before it, is away for a moment: as if the network were down. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([502, 503, 504])

const LONGEST_PAUSE_MS = 300_000 // a relay that asks for more may be another one by then

/**
 * The page's way to the relay. What it cannot take now waits in the browser's store, and goes out later, not before the
 * relay wants to be asked again.
 * @param nativeFetch of the page, as it was before it was wrapped for tracing: reports are no part of what a page does.
 */
export function pageTransport(nativeFetch: typeof fetch): MakeTransport {
  /** Milliseconds since the epoch. */
  let pausedUntil = 0

  return makeBrowserOfflineTransport((options) =>
    makeFetchTransport(
      {
        ...options,
        // The SDK takes each attempt that fails for a loss, but what has failed is kept and tried again.
        recordDroppedEvent(reason, ...dropped) {
          if (reason !== 'network_error') options.recordDroppedEvent(reason, ...dropped)
        },
      },
      async (...request) => {
        if (Date.now() < pausedUntil) throw new TypeError('The relay has asked to wait')
        const answer = await nativeFetch(...request)
        if (!PASSING_STATUSES.has(answer.status)) return answer
        const pauseMs = Number(answer.headers.get('retry-after')) * 1_000
        if (pauseMs > 0) pausedUntil = Date.now() + Math.min(pauseMs, LONGEST_PAUSE_MS)
        throw new TypeError(`The relay says ${answer.status}`)
      },
    ),
  )
}
