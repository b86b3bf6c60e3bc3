/**
 * Idempotency across instances: as in `idempotency-store.ts`, each key for ten minutes. A result of more than 1 MiB is
 * not kept: its call counts as running for that time, so that a repeated one is refused and does not run again. For
 * each client, 50,000 finished calls and 32 MiB of their results are kept; beyond that, its own oldest go.
 */
import {
  MOST_KEYS,
  MOST_RESULT_BYTES,
  IDEMPOTENCY_LIFETIME_MS,
  type IdempotencyBounds,
  type IdempotencyState,
  type IdempotencyStore,
} from './idempotency-store.ts'
import type { RedisLink } from './redis-link.ts'
import { sharedKey } from './shared-key.ts'

const MOST_BYTES_A_RESULT = 1_048_576
const MOST_DROPPED = 256 // per call, which adds one or two

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

/** Counts a finished call for its client. Returns the names of calls that this evicts. */
const COUNT = `
local now, lifetime, size = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[4]
local mostKeys, mostBytes, mostDropped = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local function drop(member)
  redis.call('ZREM', KEYS[1], member)
  redis.call('DECRBY', KEYS[2], string.match(member, '^%d+'))
end
if redis.call('ZADD', KEYS[1], now, size .. ' ' .. ARGV[3]) == 1 then redis.call('INCRBY', KEYS[2], size) end
for _, member in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now - lifetime, 'LIMIT', 0, mostDropped)) do
  drop(member)
end
local dropped = {}
while #dropped < mostDropped
  and (redis.call('ZCARD', KEYS[1]) > mostKeys or tonumber(redis.call('GET', KEYS[2]) or 0) > mostBytes) do
  local member = redis.call('ZRANGE', KEYS[1], 0, 0)[1]
  if not member then break end
  drop(member)
  dropped[#dropped + 1] = string.match(member, ' (.*)$')
end
redis.call('PEXPIRE', KEYS[1], lifetime)
redis.call('PEXPIRE', KEYS[2], lifetime)
return dropped
`

/** The share of one client. */
const MOST_OF_ONE_CLIENT: Pick<IdempotencyBounds, 'keys' | 'bytes'> = {
  keys: MOST_KEYS / 2,
  bytes: MOST_RESULT_BYTES / 2,
}

/** An `IdempotencyStore` in Redis. @throws {RedisGone} from all of its members. */
export function createRedisIdempotencyStore(
  link: Pick<RedisLink, 'script' | 'run'>,
  bounds: Pick<IdempotencyBounds, 'keys' | 'bytes'> = MOST_OF_ONE_CLIENT,
): IdempotencyStore {
  const run = (lua: string, key: string, now: number, ...more: readonly string[]): Promise<unknown> => {
    const given = [String(Math.trunc(now)), String(IDEMPOTENCY_LIFETIME_MS), ...more]
    return link.script({ lua, keys: [sharedKey('once', key)], arguments: given })
  }
  async function count(key: string, bytes: number, now: number, client: string): Promise<void> {
    const numbers = [bounds.keys, bounds.bytes, MOST_DROPPED].map(String)
    const dropped = await link.script({
      lua: COUNT,
      keys: [sharedKey('calls', client), sharedKey('call-bytes', client)],
      arguments: [
        String(Math.trunc(now)),
        String(IDEMPOTENCY_LIFETIME_MS),
        sharedKey('once', key),
        String(bytes),
        ...numbers,
      ],
    })
    // One by one: in a cluster they are on different nodes.
    await Promise.all((dropped as readonly string[]).map((name) => link.run((redis) => redis.del(name))))
  }

  return {
    async begin(key, now): Promise<IdempotencyState> {
      const [state, result] = (await run(BEGIN, key, now)) as readonly [IdempotencyState['state'], string?]
      return state === 'done' ? { state, result: result ?? '' } : { state }
    },
    async finish(key, result, now, client = '') {
      const bytes = Buffer.byteLength(result)
      const isKept = bytes <= MOST_BYTES_A_RESULT
      await run(FINISH, key, now, ...(isKept ? [result] : []))
      await count(key, isKept ? bytes : 0, now, client)
    },
    async abandon(key) {
      await link.run((client) => client.del(sharedKey('once', key)))
    },
  }
}
