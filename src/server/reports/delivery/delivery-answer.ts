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
