/**
 * Idempotency over instances: as in `once-store.ts`, each key by itself for ten minutes. A result of more than 1 MiB is not
 * kept: its call counts as running for as long, so that it is refused and not run again.
 */
import { ONCE_LIFETIME_MS, type OnceState, type OnceStore } from './once-store.ts'
import type { RedisLink } from './redis-link.ts'
import { sharedKey } from './shared-key.ts'

const MOST_RESULT_BYTES = 1_048_576

const BEGIN = `
local now, lifetime = tonumber(ARGV[1]), tonumber(ARGV[2])
local known = redis.call('HMGET', KEYS[1], 'at', 'result')
if known[1] and tonumber(known[1]) > now - lifetime then
  if known[2] then return { 'done', known[2] } end
  return { 'running' }
end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'at', ARGV[1])
redis.call('PEXPIRE', KEYS[1], lifetime)
return { 'new' }
`
const FINISH = `
redis.call('HSET', KEYS[1], 'at', ARGV[1])
if ARGV[3] then redis.call('HSET', KEYS[1], 'result', ARGV[3]) end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
`

/** An `OnceStore` in Redis. @throws {RedisGone} from all of its members. */
export function createRedisOnceStore(link: Pick<RedisLink, 'script' | 'run'>): OnceStore {
  const run = (lua: string, key: string, now: number, ...more: readonly string[]): Promise<unknown> => {
    const given = [String(Math.trunc(now)), String(ONCE_LIFETIME_MS), ...more]
    return link.script({ lua, keys: [sharedKey('once', key)], arguments: given })
  }
  return {
    async begin(key, now): Promise<OnceState> {
      const [state, result] = (await run(BEGIN, key, now)) as readonly [OnceState['state'], string?]
      return state === 'done' ? { state, result: result ?? '' } : { state }
    },
    async finish(key, result, now) {
      const kept = Buffer.byteLength(result) <= MOST_RESULT_BYTES ? [result] : []
      await run(FINISH, key, now, ...kept)
    },
    async abandon(key) {
      await link.run((client) => client.del(sharedKey('once', key)))
    },
  }
}
