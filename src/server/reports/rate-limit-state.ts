/**
 * What the service has said of its limits, per category
 * (https://develop.sentry.dev/sdk/foundations/transport/rate-limiting/). Shared by who delivers, which waits, and by the
 * relay, which passes the limits on. At most 64 categories; a limit is believed for a day, then the service is asked again.
 */
import type { UpstreamAnswer } from './upstream.ts'

const DEFAULT_SECONDS = 60 // what the service's own SDKs assume where a limit names no time
const MOST_SECONDS = 86_400
const MOST_CATEGORIES = 64
const CATEGORY = /^[a-z_]{1,40}$/

/** Stands for all categories. */
const ALL = ''

/** Limits that hold for now. Times are in milliseconds since the epoch. */
export interface RateLimitState {
  /** Learns from an answer of the service; one that says nothing of limits changes nothing. */
  update(answer: UpstreamAnswer, now: number): void
  /** Until when items of a category are not wanted; 0 for one that is. */
  limitedUntil(category: string, now: number): number
  /**
   * What the relay's own answers say of it, with the time that is left.
   * @param own seconds for which this server itself wants nothing more; both headers then say so.
   * @returns names and values in turn, none where nothing is limited.
   */
  headers(now: number, own?: number): string[]
}

/** Reads the limits of one answer: until when, by category, and by `''` for all of them. */
export function readRateLimits(answer: UpstreamAnswer, now: number): ReadonlyMap<string, number> {
  const limits = new Map<string, number>()
  if (answer.rateLimits !== undefined && answer.rateLimits.trim() !== '') {
    for (const group of answer.rateLimits.split(',')) {
      const [seconds = '', categories = ''] = group.trim().split(':')
      const until = now + secondsOf(seconds, now) * 1_000
      const named = categories.split(';').map((category) => category.trim().toLowerCase())
      for (const category of named) {
        if (category !== ALL && !CATEGORY.test(category)) continue
        limits.set(category, Math.max(until, limits.get(category) ?? 0))
      }
    }
    return limits
  }
  if (answer.retryAfter !== undefined) limits.set(ALL, now + secondsOf(answer.retryAfter, now) * 1_000)
  else if (answer.status === 429) limits.set(ALL, now + DEFAULT_SECONDS * 1_000)
  return limits
}

/** Makes a state in which nothing is limited. */
export function createRateLimitState(): RateLimitState {
  const limits = new Map<string, number>()
  const stated = { retryAfter: 0 }

  return {
    update(answer, now) {
      for (const [category, until] of readRateLimits(answer, now)) {
        if (limits.has(category) || limits.size < MOST_CATEGORIES) limits.set(category, until)
      }
      if (answer.retryAfter !== undefined) stated.retryAfter = now + secondsOf(answer.retryAfter, now) * 1_000
    },
    limitedUntil(category, now) {
      const until = Math.max(limits.get(category) ?? 0, limits.get(ALL) ?? 0)
      return until > now ? until : 0
    },
    headers(now, own = 0) {
      const groups = new Map<number, string[]>()
      for (const [category, until] of limits) {
        if (until <= now) limits.delete(category)
        else groups.set(until, [...(groups.get(until) ?? []), category])
      }
      const lines = [...groups].map(([until, categories]) => `${leftOf(until, now)}:${listed(categories)}:organization`)
      // SDKs that see the one header do not look at the other.
      if (own > 0) lines.unshift(`${own}::key`)
      const retryAfter = Math.max(own, leftOf(stated.retryAfter, now))
      return [
        ...(lines.length === 0 ? [] : ['X-Sentry-Rate-Limits', lines.join(', ')]),
        ...(retryAfter <= 0 ? [] : ['Retry-After', String(retryAfter)]),
      ]
    },
  }
}

/** A list that names all categories names no others. */
function listed(categories: readonly string[]): string {
  return categories.includes(ALL) ? '' : categories.join(';')
}

function leftOf(until: number, now: number): number {
  return Math.ceil((until - now) / 1_000)
}

/** Seconds, or a date (RFC 9110, section 10.2.3). */
function secondsOf(text: string, now: number): number {
  const trimmed = text.trim()
  const seconds = /^\d+(?:\.\d+)?$/.test(trimmed) ? Number(trimmed) : (Date.parse(trimmed) - now) / 1_000
  if (Number.isNaN(seconds)) return DEFAULT_SECONDS
  return Math.min(Math.max(Math.ceil(seconds), 0), MOST_SECONDS)
}
