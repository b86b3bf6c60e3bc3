/**
 * The service's rate limits by category (https://develop.sentry.dev/sdk/foundations/transport/rate-limiting/). Used by
 * the delivery, which waits, and by the relay, which passes the limits on. At most 64 categories; a limit holds for a
 * day at most, then the service is tried again. `Retry-After` is a limit only with status 429: a proxy of the service may
 * fail for one report only, and browsers drop their reports as long as they are limited.
 */
import { parseRetryAfter } from '../../../shared/retry-after.ts'
import type { UpstreamAnswer } from './upstream.ts'

const DEFAULT_SECONDS = 60 // default of the service's own SDKs
const MOST_SECONDS = 86_400
const MOST_CATEGORIES = 64
const CATEGORY = /^[a-z_]{1,40}$/
const DETAIL = /^[\w.:;-]{1,64}$/
const DEFAULT_DETAIL = 'organization'

/** Key for all categories. */
const ALL = ''

/** One limit. */
interface StatedLimit {
  /** Milliseconds since the epoch. */
  readonly until: number
  /** The rest of the service's text after the categories: scope, and perhaps a reason. Passed on unchanged. */
  readonly detail: string
}

/** Current limits. Times are in milliseconds since the epoch. */
export interface RateLimitState {
  /** Reads the limits from an answer of the service; an answer without limits changes nothing. */
  update(answer: UpstreamAnswer, now: number): void
  /** When the limit of a category ends; 0 if it is not limited. */
  limitedUntil(category: string, now: number): number
  /**
   * Headers for the relay's own answers, with the remaining times.
   * @param own seconds for which this server refuses everything; both headers then say so.
   * @returns names and values in turn; empty if nothing is limited.
   */
  headers(now: number, own?: number): string[]
}

/** Reads the limits of one answer by category; `''` is the key for all of them. */
export function readRateLimits(answer: UpstreamAnswer, now: number): ReadonlyMap<string, StatedLimit> {
  const limits = new Map<string, StatedLimit>()
  if (answer.rateLimits !== undefined && answer.rateLimits.trim() !== '') {
    for (const group of answer.rateLimits.split(',')) {
      const [seconds = '', categories = '', ...rest] = group.trim().split(':')
      const until = now + secondsOf(seconds) * 1_000
      const detail = detailOf(rest.join(':'))
      const named = categories.split(';').map((category) => category.trim().toLowerCase())
      for (const category of named) {
        if (category !== ALL && !CATEGORY.test(category)) continue
        if (until > (limits.get(category)?.until ?? -1)) limits.set(category, { until, detail })
      }
    }
    return limits
  }
  if (answer.status === 429) {
    limits.set(ALL, { until: now + retryAfterSeconds(answer.retryAfter, now) * 1_000, detail: DEFAULT_DETAIL })
  }
  return limits
}

/** Starts without limits. */
export function createRateLimitState(): RateLimitState {
  const limits = new Map<string, StatedLimit>()
  const stated = { retryAfter: 0 }

  return {
    update(answer, now) {
      for (const [category, limit] of readRateLimits(answer, now)) {
        if (limits.has(category) || limits.size < MOST_CATEGORIES) limits.set(category, limit)
      }
      if (answer.status !== 429 || answer.retryAfter === undefined) return
      stated.retryAfter = now + retryAfterSeconds(answer.retryAfter, now) * 1_000
    },
    limitedUntil(category, now) {
      const until = Math.max(limits.get(category)?.until ?? 0, limits.get(ALL)?.until ?? 0)
      return until > now ? until : 0
    },
    headers(now, own = 0) {
      const groups = new Map<string, StatedLimit & { readonly categories: string[] }>()
      for (const [category, { until, detail }] of limits) {
        if (until <= now) {
          limits.delete(category)
          continue
        }
        const key = `${until}:${detail}`
        const group = groups.get(key)
        if (group === undefined) groups.set(key, { until, detail, categories: [category] })
        else group.categories.push(category)
      }
      const lines = [...groups.values()].map(
        ({ until, detail, categories }) => `${leftOf(until, now)}:${listed(categories)}:${detail}`,
      )
      // SDKs that find this header ignore the other one.
      if (own > 0) lines.unshift(`${own}::key`)
      const retryAfter = Math.max(own, leftOf(stated.retryAfter, now))
      return [
        ...(lines.length === 0 ? [] : ['X-Sentry-Rate-Limits', lines.join(', ')]),
        ...(retryAfter <= 0 ? [] : ['Retry-After', String(retryAfter)]),
      ]
    },
  }
}

/** Text that is invalid in a header, or too long, is dropped. */
function detailOf(text: string): string {
  const detail = text.trim()
  return DETAIL.test(detail) ? detail : DEFAULT_DETAIL
}

/** If all categories are limited, the list names no others. */
function listed(categories: readonly string[]): string {
  return categories.includes(ALL) ? '' : categories.join(';')
}

function leftOf(until: number, now: number): number {
  return Math.ceil((until - now) / 1_000)
}

/** The seconds of a group in `X-Sentry-Rate-Limits`, which may have decimals. */
function secondsOf(text: string): number {
  const trimmed = text.trim()
  return /^\d+(?:\.\d+)?$/.test(trimmed) ? Math.min(Math.ceil(Number(trimmed)), MOST_SECONDS) : DEFAULT_SECONDS
}

function retryAfterSeconds(header: string | undefined, now: number): number {
  const delayMs = parseRetryAfter(header, now)
  return delayMs === undefined ? DEFAULT_SECONDS : Math.min(Math.ceil(delayMs / 1_000), MOST_SECONDS)
}
