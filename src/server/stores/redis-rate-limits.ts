/**
 * Rate limits that instances share: as in `rate-limits.ts`; a key expires in Redis once all points are back. For each
 * client, 50,000 keys of which it was the first to take a point are kept; beyond that, its least recently used ones go.
 */
import { MOST_KEYS, rateCells, rateMoment, refusal, type RateBounds, type RateLimits } from './rate-limits.ts'
import type { RedisLink } from './redis-link.ts'
import { sharedKey } from './shared-key.ts'

const MOST_DROPPED = 256 // per call, which adds one

/**
 * Takes a point. Returns 0, or without a point the moment at which all are back. If the client's list ends before the
 * key does, also returns the key's client: the list is written once per window.
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

/** Lists a key of a client. Returns the names of the keys that this evicts. */
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

/** Meanwhile a key may have expired, and now belong to another client. */
const DROP = `
if redis.call('HGET', KEYS[1], 'client') == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 0
`

const ALLOWED = { allowed: true, retryAfterSeconds: 0 }

/**
 * `RateLimits` in Redis. The caller's clock counts: clocks of servers differ by milliseconds, limits span seconds, and
 * a wrong clock blocks nobody for longer than the limit.
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
