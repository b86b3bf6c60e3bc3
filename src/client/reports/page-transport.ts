import { makeBrowserOfflineTransport, makeFetchTransport, type BrowserOptions } from '@sentry/react'

type MakeTransport = NonNullable<BrowserOptions['transport']>

/** The relay, or what stands before it, is away for a moment: as if the network were down. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([502, 503, 504])

/**
 * The page's way to the relay. What it cannot take now waits in the browser's store, and goes out later.
 * @param nativeFetch of the page, as it was before it was wrapped for tracing: reports are no part of what a page does.
 */
export function pageTransport(nativeFetch: typeof fetch): MakeTransport {
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
        const answer = await nativeFetch(...request)
        if (PASSING_STATUSES.has(answer.status)) throw new TypeError(`The relay says ${answer.status}`)
        return answer
      },
    ),
  )
}
