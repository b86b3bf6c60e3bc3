import type { UpstreamAnswer } from './upstream.ts'

/** Meaning of the service's answer for the envelope. */
export type DeliveryVerdict =
  | { readonly verdict: 'delivered' }
  /** The service will never accept it. */
  | { readonly verdict: 'refused'; readonly status: number }
  /** By its rate limits. */
  | { readonly verdict: 'limited' }
  /** Temporarily, for reasons unrelated to the envelope. */
  | { readonly verdict: 'failed'; readonly status: number | undefined }

/** Client errors that do not concern the envelope: a DSN that is not known yet, a proxy in between, bad timing. */
const PASSING = new Set([401, 404, 407, 408, 421, 425])

/** Interprets an answer. */
export function judgeAnswer({ kind, status }: UpstreamAnswer): DeliveryVerdict {
  if (kind === 'unreachable' || status === undefined) return { verdict: 'failed', status: undefined }
  if (status >= 200 && status < 300) return { verdict: 'delivered' }
  if (status === 429) return { verdict: 'limited' }
  if (status >= 400 && status < 500 && !PASSING.has(status)) return { verdict: 'refused', status }
  return { verdict: 'failed', status }
}
