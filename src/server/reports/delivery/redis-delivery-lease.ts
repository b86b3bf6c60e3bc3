import type { RedisLink } from '../../stores/redis-link.ts'
import { LEASE_LIFETIME_MS, type DeliveryLease, type DeliveryLeaseOptions } from './delivery-lease.ts'
import { spoolPrefix } from '../spool/redis-spool.ts'

// No key that expires: Redis would evict it when its memory is full. The first change is one that it allows then.
const TAKE = `
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local held = redis.call('HMGET', KEYS[1], 'by', 'until')
local isHeld = held[1] and tonumber(held[2]) > now
if isHeld and held[1] ~= ARGV[1] and held[1] ~= ARGV[2] then return 0 end
redis.call('HDEL', KEYS[1], 'none')
redis.call('HSET', KEYS[1], 'by', ARGV[1], 'until', string.format('%.0f', now + tonumber(ARGV[3])))
return 1
`
const RELEASE = `
if redis.call('HGET', KEYS[1], 'by') == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1
`

/** A `DeliveryLease` in Redis that expires by Redis's clock. @throws {RedisGone} from both of its members. */
export function createRedisDeliveryLease(
  link: Pick<RedisLink, 'run' | 'script' | 'prefix'>,
  { destination, owner, isGone = () => false, lifetimeMs = LEASE_LIFETIME_MS }: DeliveryLeaseOptions,
): DeliveryLease {
  const key = `${spoolPrefix(link, destination)}:lease`
  let heldUntil = 0
  return {
    async hold(now) {
      // Renewed after a third of its lifetime, so that it survives a blocked event loop.
      const left = heldUntil - now
      if (left > (lifetimeMs * 2) / 3 && left <= lifetimeMs) return true
      heldUntil = 0
      const holder = await link.run((client) => client.hGet(key, 'by'))
      const gone = holder !== null && holder !== owner && isGone(holder) ? holder : owner
      const isOurs = await link.script({ lua: TAKE, keys: [key], arguments: [owner, gone, String(lifetimeMs)] })
      if (isOurs === 1) heldUntil = now + lifetimeMs
      return isOurs === 1
    },
    async release() {
      if (heldUntil === 0) return
      heldUntil = 0
      await link.script({ lua: RELEASE, keys: [key], arguments: [owner] })
    },
  }
}
