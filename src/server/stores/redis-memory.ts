import type { Logger } from 'pino'
import type { RedisLink } from './redis-link.ts'

const POLICY = 'volatile-lru'

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
      .run((client) => client.info('memory'))
      .then((info) => {
        const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1]
        const maxmemory = Number(/^maxmemory:(\d+)/m.exec(info)?.[1])
        if (policy === undefined || (policy === POLICY && maxmemory > 0)) return
        log.warn(
          { policy, maxmemory },
          'the shared store needs a maxmemory above 0 and the maxmemory-policy volatile-lru: see REDIS_URL in the configuration',
        )
      })
      .catch(() => undefined) // a service that does not tell has set them itself
  })
}
