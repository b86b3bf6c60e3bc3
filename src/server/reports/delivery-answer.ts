import type { UpstreamAnswer } from './upstream.ts'

/** What an answer of the service means for the envelope. */
export type DeliveryVerdict =
  | { readonly verdict: 'delivered' }
  /** It will never be taken, however often it is sent. */
  | { readonly verdict: 'refused'; readonly status: number }
  /** By its rate limits. */
  | { readonly verdict: 'limited' }
  /** Now, for reasons that have nothing to do with the envelope. */
  | { readonly verdict: 'failed'; readonly status: number | undefined }

/** Client errors that say nothing of the envelope: a DSN that is not known yet, a proxy in between, bad timing. */
const PASSING = new Set([401, 404, 407, 408, 421, 425])

/** Reads an answer. */
export function judgeAnswer({ kind, status }: UpstreamAnswer): DeliveryVerdict {
  if (kind === 'unreachable' || status === undefined) return { verdict: 'failed', status: undefined }
  if (status >= 200 && status < 300) return { verdict: 'delivered' }
  if (status === 429) return { verdict: 'limited' }
  if (status >= 400 && status < 500 && !PASSING.has(status)) return { verdict: 'refused', status }
  return { verdict: 'failed', status }
}

/**
 * Reads `Retry-After` (RFC 9110, section 10.2.3), seconds or a date.
 * @param now milliseconds since the epoch.
 * @returns milliseconds from now; 0 where there is none, or none that can be read.
 */
export function retryAfterOf(text: string | undefined, now: number): number {
  if (text === undefined) return 0
  if (/^\d+$/.test(text.trim())) return Number(text) * 1_000
  const date = Date.parse(text)
  return Number.isNaN(date) ? 0 : Math.max(0, date - now)
}
