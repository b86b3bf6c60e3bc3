/** Rate limits that instances share: as in `rate-limits.ts`; a key expires in Redis once all points are back. */
import { rateCells, rateMoment, refusal, type RateLimits } from './rate-limits.ts'
import type { RedisLink } from './redis-link.ts'
import { sharedKey } from './shared-key.ts'

// Numbers stay below 2^53, but Lua formats them with 14 digits by default.
const TAKE = `
local now, window, interval = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local stands = tonumber(redis.call('GET', KEYS[1]) or 0)
local latest = now + window
local function keep(moment)
  redis.call('SET', KEYS[1], string.format('%.0f', moment), 'PX', math.ceil((moment - now) / 1000))
end
local taken = math.max(stands, now) + interval
if taken <= latest then
  keep(taken)
  return 0
end
if stands > latest then
  stands = latest
  keep(latest)
end
return stands
`

const ALLOWED = { allowed: true, retryAfterSeconds: 0 }

/**
 * `RateLimits` in Redis. The caller's clock counts: clocks of servers differ by milliseconds, limits span seconds, and
 * a wrong clock blocks nobody for longer than the limit.
 * @throws {RedisGone} from `take`.
 */
export function createRedisRateLimits(link: Pick<RedisLink, 'script'>): RateLimits {
  return {
    async take(key, limit, nowMs) {
      const cells = rateCells(limit)
      const now = rateMoment(nowMs)
      const given = [now, cells.window, cells.interval].map(String)
      const fullAt = Number(await link.script({ lua: TAKE, keys: [sharedKey('rate', key)], arguments: given }))
      return fullAt === 0 ? ALLOWED : refusal(fullAt, now, cells)
    },
  }
}
