import type { RedisLink } from '../../stores/redis-link.ts'
import { LEASE_LIFETIME_MS, type DeliveryLease, type DeliveryLeaseOptions } from './delivery-lease.ts'
import { spoolPrefix } from '../spool/redis-spool.ts'

const TAKE = `
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] and holder ~= ARGV[2] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
return 1
`
const RELEASE = `
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1
`

/** A `DeliveryLease` in Redis that expires by Redis's clock. @throws {RedisGone} from both of its members. */
export function createRedisDeliveryLease(
  link: Pick<RedisLink, 'run' | 'script'>,
  { destination, owner, isGone = () => false, lifetimeMs = LEASE_LIFETIME_MS }: DeliveryLeaseOptions,
): DeliveryLease {
  const key = `${spoolPrefix(destination)}:lease`
  let heldUntil = 0
  return {
    async hold(now) {
      // Renewed after a third of its lifetime, so that it survives a blocked event loop.
      const left = heldUntil - now
      if (left > (lifetimeMs * 2) / 3 && left <= lifetimeMs) return true
      heldUntil = 0
      const holder = await link.run((client) => client.get(key))
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
