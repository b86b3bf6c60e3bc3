import { makeBrowserOfflineTransport, makeFetchTransport, type BrowserOptions } from '@sentry/react'
import { parseRetryAfter } from '../../shared/retry-after.ts'

type MakeTransport = NonNullable<BrowserOptions['transport']>

/** The relay, or a proxy in front of it, is temporarily unavailable: treated as a network failure. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([502, 503, 504])

const LONGEST_PAUSE_MS = 300_000 // after that, another relay may be running

/**
 * The page's transport to the relay. Envelopes that fail wait in the browser's storage, and are sent later, not before
 * the relay's `Retry-After`.
 * @param nativeFetch of the page, before it was wrapped for tracing: reports are not part of a page's work.
 */
export function pageTransport(nativeFetch: typeof fetch): MakeTransport {
  /** Milliseconds since the epoch. */
  let pausedUntil = 0

  return makeBrowserOfflineTransport((options) =>
    makeFetchTransport(
      {
        ...options,
        // The SDK counts each failed attempt as a loss, but a failed envelope is kept and retried.
        recordDroppedEvent(reason, ...dropped) {
          if (reason !== 'network_error') options.recordDroppedEvent(reason, ...dropped)
        },
      },
      async (...request) => {
        if (Date.now() < pausedUntil) throw new TypeError('The relay has asked to wait')
        const answer = await nativeFetch(...request)
        if (!PASSING_STATUSES.has(answer.status)) return answer
        const now = Date.now()
        const pauseMs = parseRetryAfter(answer.headers.get('Retry-After'), now) ?? 0
        pausedUntil = now + Math.min(pauseMs, LONGEST_PAUSE_MS)
        throw new TypeError(`The relay answered ${answer.status}`)
      },
    ),
  )
}
