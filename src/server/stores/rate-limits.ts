/**
 * Rate limits by key, as `rate-cells.ts` counts them. At most 100,000 keys: those that have all their points back are
 * dropped. Applications may use visitors' input as keys, such as email addresses, and no visitor may lift limits by
 * inventing keys, neither those of others nor its own (`crowded-keys.ts`).
 */
import type { RateLimit, RateLimitResult } from './rate-cells.ts'
import type { Store, StoreKind } from './store.ts'
import { storedKey } from './stored-key.ts'

/** Counts calls by key. */
export interface RateLimits {
  /**
   * Takes a point; a refused call takes none. Each limit counts a key by itself: the shorter of two would bring the longer back.
   * @param limit `points` is a whole number from 1, `seconds` is above 0.
   * @param now milliseconds since the epoch.
   * @param client that the call is for, as `clientKey` names it; keys without one count as one client's.
   * @throws {RangeError} for an invalid limit.
   * @returns `retryAfterSeconds` in whole seconds.
   */
  take(key: string, limit: RateLimit, now: number, client?: string): Promise<RateLimitResult>
}

/** The key of a limit of the application, which is none of the runtime's own. */
export function applicationKey(key: string): string {
  return `application ${key}`
}

/** Entries of `createRateLimits`. */
export const LIMITS: StoreKind = { name: 'limits', entries: 100_000, bytes: 1_048_576 }

/** `RateLimits` in a store of `LIMITS`. */
export function createRateLimits(store: Pick<Store, 'take'>): RateLimits {
  return {
    async take(key, limit, now, client = '') {
      const { points, seconds } = limit
      return store.take(storedKey(`${points}/${seconds} ${key}`), limit, now, storedKey(client))
    },
  }
}
