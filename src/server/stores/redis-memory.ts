import type { Logger } from 'pino'
import { readRedisMemory } from './redis-info.ts'
import type { RedisLink } from './redis-link.ts'

const POLICY = 'volatile-lru'

/** What Redis itself, its connections and the marks of what was revalidated take. */
const FIXED_BYTES = 8_388_608

/** Uses that Redis may not evict, as shares of `maxmemory` without `FIXED_BYTES`: together three quarters. */
const SHARES = {
  'sessions entries': 0.18,
  'sessions bytes': 0.2,
  'calls entries': 0.04,
  'calls bytes': 0.12,
  'limits entries': 0.075,
  'limits bytes': 0.005,
  epochs: 0.03,
  spool: 0.1,
} as const

/**
 * Bytes of Redis that one use may take. What it may not evict has bounds that fit into its memory together, however
 * small that is: a use that filled it would keep everything else from being written.
 */
export function redisRoom({ maxmemory }: Pick<RedisLink, 'maxmemory'>, use: keyof typeof SHARES): number {
  return Math.max(maxmemory - FIXED_BYTES, maxmemory / 4) * SHARES[use]
}

/**
 * Logs, once, how the shared store deals with its memory if that is wrong. What protects people has no expiry, so with
 * `volatile-lru` only values of loaders are evicted. With an `allkeys` policy sessions would be; without eviction, or
 * without a bound, values that visitors can multiply would take the room of everything else.
 */
export function checkRedisMemory(link: Pick<RedisLink, 'run' | 'onConnect'>, log: Pick<Logger, 'warn'>): void {
  let isChecked = false
  link.onConnect(() => {
    if (isChecked) return
    isChecked = true
    link
      .run(readRedisMemory)
      .then((memory) => {
        if (memory === undefined || (memory.policy === POLICY && memory.maxmemory > 0)) return
        log.warn(
          memory,
          'the shared store needs a maxmemory above 0 and the maxmemory-policy volatile-lru: see REDIS_URL in the configuration',
        )
      })
      .catch(() => undefined) // a service that does not tell has set them itself
  })
}
