/**
 * Rate limits that instances share: as in `rate-limits.ts`, and gone from Redis once all points are back. Of one client,
 * 50,000 keys are kept, those that it was the first to take a point of; beyond that, those that it has used longest ago go.
 */
import { MOST_KEYS, rateCells, rateMoment, refusal, type RateBounds, type RateLimits } from './rate-limits.ts'
import type { RedisLink } from './redis-link.ts'
import { sharedKey } from './shared-key.ts'

const MOST_DROPPED = 256 // in one call, which adds one

/**
 * Takes a point. Gives the moment at which all points are back where there is none, else 0, and then whose key it is, if
 * the client's list does not reach as far as the key may be kept: it is written once a window.
 */
// Numbers stay below 2^53, but Lua formats them with 14 digits by default.
const TAKE = `
local now, window, interval = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local known = redis.call('HMGET', KEYS[1], 'at', 'client', 'listed')
local stands, client, listed = tonumber(known[1] or 0), known[2] or ARGV[4], tonumber(known[3] or 0)
local latest = now + window
local function keep(moment)
  redis.call('HSET', KEYS[1], 'at', string.format('%.0f', moment), 'client', client)
  redis.call('PEXPIRE', KEYS[1], math.ceil((moment - now) / 1000))
end
local taken = math.max(stands, now) + interval
if taken <= latest then
  keep(taken)
  if taken <= listed then return { 0 } end
  redis.call('HSET', KEYS[1], 'listed', string.format('%.0f', latest + window))
  return { 0, client }
end
if stands > latest then
  stands = latest
  keep(latest)
end
return { stands }
`

/** Lists a key of a client. Gives the names of the keys that this pushes out. */
const LIST = `
local now, last_, mostKeys, mostDropped = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[4]), tonumber(ARGV[5])
redis.call('ZADD', KEYS[1], last_, ARGV[3])
local full = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, mostDropped)
if #full > 0 then redis.call('ZREM', KEYS[1], unpack(full)) end
local dropped = {}
local excess = math.min(redis.call('ZCARD', KEYS[1]) - mostKeys, mostDropped)
if excess > 0 then
  dropped = redis.call('ZRANGE', KEYS[1], 0, excess - 1)
  redis.call('ZREM', KEYS[1], unpack(dropped))
end
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')[2]
if last then redis.call('PEXPIRE', KEYS[1], math.max(1, math.ceil((tonumber(last) - now) / 1000))) end
return dropped
`

/** A key may have gone meanwhile, and be another client's now. */
const DROP = `
if redis.call('HGET', KEYS[1], 'client') == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 0
`

const ALLOWED = { allowed: true, retryAfterSeconds: 0 }

/**
 * `RateLimits` in Redis. The time is the caller's: clocks of servers differ by milliseconds, limits reach over seconds, and
 * one that is set wrong locks nobody out for longer than its limit.
 * @param bounds of one client.
 * @throws {RedisGone} from `take`.
 */
export function createRedisRateLimits(
  link: Pick<RedisLink, 'script'>,
  bounds: Pick<RateBounds, 'keys'> = { keys: MOST_KEYS / 2 },
): RateLimits {
  async function list(name: string, client: string, now: number, until: number): Promise<void> {
    const given = [String(now), String(until), name, String(bounds.keys), String(MOST_DROPPED)]
    const dropped = await link.script({ lua: LIST, keys: [sharedKey('limits', client)], arguments: given })
    // One by one: in a cluster they are on different nodes.
    const drops = (dropped as readonly string[]).map((each) =>
      link.script({ lua: DROP, keys: [each], arguments: [client] }),
    )
    await Promise.all(drops)
  }

  return {
    async take(key, limit, nowMs, client = '') {
      const cells = rateCells(limit)
      const now = rateMoment(nowMs)
      const name = sharedKey('limit', key)
      const given = [...[now, cells.window, cells.interval].map(String), client]
      const answer = await link.script({ lua: TAKE, keys: [name], arguments: given })
      const [fullAt, unlisted] = answer as readonly [number, string?]
      if (unlisted !== undefined) await list(name, unlisted, now, now + 2 * cells.window)
      return fullAt === 0 ? ALLOWED : refusal(fullAt, now, cells)
    },
  }
}
