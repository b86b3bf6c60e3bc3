import { mayBeShared } from '../../http/cache-control.ts'
import type { RequestContext } from '../context.ts'

/** The `Cache-Control` of an answer. */
export interface Caching {
  readonly value: string
  /** Whether caches between server and visitor may keep the answer: then it must hold nothing of one visitor, no nonce either. */
  readonly shared: boolean
}

/** For each visitor, who asks again each time. */
export const PRIVATE: Caching = { value: 'private, no-cache', shared: false }
/** For one visitor, once: route data, and every answer that sets a cookie. */
export const ONE_VISITOR: Caching = { value: 'private, no-store', shared: false }
/** For nobody: failures, refusals, and what answers a form. */
export const NO_STORE: Caching = { value: 'no-store', shared: false }

/** What decides about caching. */
export interface CachingFacts {
  readonly status: number
  /** What the author of the answer asks for. */
  readonly wanted: string | undefined
  /** Where the author asks for nothing. */
  readonly byDefault: Caching
  /** Whether the answer sets a cookie: then it belongs to one visitor. */
  readonly setsCookie: boolean
}

/** Decides the `Cache-Control` of an answer: failures are never kept, and answers with a cookie never shared. */
export function cachingOf({ status, wanted, byDefault, setsCookie }: CachingFacts): Caching {
  if (status >= 400) return NO_STORE
  if (wanted === undefined) return byDefault
  const shared = mayBeShared(wanted)
  return shared && setsCookie ? ONE_VISITOR : { value: wanted, shared }
}

/**
 * Takes the `Cache-Control` that a rule or middleware has set off the response: it is a wish like a loader's, to be judged
 * before it is sent.
 */
export function takeRuledCaching({ res }: RequestContext): string | undefined {
  const value = res.getHeader('cache-control')
  if (value !== undefined) res.removeHeader('cache-control')
  return value === undefined ? undefined : String(value)
}
