/**
 * Sessions that instances share: as in `session-store.ts`; a session expires in Redis by itself. Each client keeps at
 * most 100,000 sessions that it has started; Redis' own memory limit bounds all of them.
 */
import { MOST_SESSIONS, type KeptSession, type SessionStore } from './session-store.ts'
import type { RedisLink } from './redis-link.ts'
import { sharedKey } from './shared-key.ts'

const MOST_DROPPED = 256 // per call, which adds one

const START = `
redis.call('HSET', KEYS[1], 'session', ARGV[1], 'data', ARGV[2], 'seen', ARGV[3], 'expires', ARGV[4])
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return 1
`
/** Lists a session. Returns the ids that this evicts: those that expire first. */
const LIST = `
local now, expires, id, most, mostDropped = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZADD', KEYS[1], expires, id)
local dropped = {}
for _, other in ipairs(redis.call('ZRANGE', KEYS[1], 0, mostDropped)) do
  if redis.call('ZCARD', KEYS[1]) <= most then break end
  if other ~= id then
    redis.call('ZREM', KEYS[1], other)
    dropped[#dropped + 1] = other
  end
end
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')[2]
redis.call('PEXPIRE', KEYS[1], math.max(1, math.ceil(tonumber(last) - tonumber(now))))
return dropped
`
const WRITE = `
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], 'data', ARGV[1])
return 1
`
const TOUCH = `
local seen = tonumber(redis.call('HGET', KEYS[1], 'seen'))
if not seen or seen >= tonumber(ARGV[1]) then return 0 end
redis.call('HSET', KEYS[1], 'seen', ARGV[1], 'expires', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
`
/** A key may lead to a session of another user, whose id somebody has guessed. */
const END = `
local session = redis.call('HGET', KEYS[1], 'session')
if not session or cjson.decode(session).user ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
`

const nameOf = (id: string): string => sharedKey('session', id)
const listOf = (user: string): string => sharedKey('sessions-of', user)

/** A `SessionStore` in Redis. @throws {RedisGone} from all of its members. */
export function createRedisSessionStore(
  link: Pick<RedisLink, 'script' | 'run'>,
  mostOfClient: number = MOST_SESSIONS / 2,
): SessionStore {
  const run = (lua: string, key: string, ...given: readonly (string | number)[]): Promise<unknown> =>
    link.script({ lua, keys: [key], arguments: given.map(String) })

  async function list(key: string, { id, seenAt, expiresAt }: KeptSession, most: number): Promise<void> {
    const dropped = await run(LIST, key, seenAt, expiresAt, id, most, MOST_DROPPED)
    // One by one: in a cluster they are on different nodes.
    await Promise.all((dropped as readonly string[]).map((other) => link.run((client) => client.del(nameOf(other)))))
  }

  async function readAt(id: string, now: number): Promise<KeptSession | undefined> {
    const fields = await link.run((client) => client.hGetAll(nameOf(id)))
    const expiresAt = Number(fields['expires'] ?? 0)
    if (expiresAt <= now) return undefined
    const fixed = JSON.parse(fields['session'] ?? '{}') as Pick<
      KeptSession,
      'user' | 'client' | 'userAgent' | 'startedAt'
    >
    return { ...fixed, id, data: fields['data'] ?? '', seenAt: Number(fields['seen']), expiresAt }
  }

  return {
    read: readAt,
    async start(session, mostOfUser) {
      const { id, user, client, data, userAgent, startedAt, seenAt, expiresAt } = session
      // Listed first: a session that no list names could not be ended from another device.
      await list(listOf(user), session, mostOfUser)
      await list(sharedKey('sessions-by', client), session, mostOfClient)
      const fixed = JSON.stringify({ user, client, userAgent, startedAt })
      await run(START, nameOf(id), fixed, data, seenAt, expiresAt, Math.max(1, Math.ceil(expiresAt - seenAt)))
    },
    write: async (id, data) => (await run(WRITE, nameOf(id), data)) === 1,
    async touch({ id, user, seenAt, expiresAt }) {
      const lifetime = Math.max(1, Math.ceil(expiresAt - seenAt))
      if ((await run(TOUCH, nameOf(id), seenAt, expiresAt, lifetime)) === 0) return
      await link.run((client) =>
        Promise.all([
          client.zAdd(listOf(user), { score: expiresAt, value: id }, { condition: 'XX' }),
          client.pExpire(listOf(user), lifetime, 'GT'),
        ]),
      )
    },
    async list(user, now) {
      const ids = await link.run((client) => client.zRangeByScore(listOf(user), `(${now}`, '+inf'))
      const sessions = await Promise.all(ids.map((id) => readAt(id, now)))
      return sessions
        .filter((session) => session !== undefined)
        .toSorted((one, other) => other.seenAt - one.seenAt || (one.id < other.id ? -1 : 1))
    },
    async end(user, ids) {
      const ended = await Promise.all(ids.map((id) => run(END, nameOf(id), user)))
      if (ids.length > 0) await link.run((client) => client.zRem(listOf(user), [...ids]))
      return ended.filter((count) => count === 1).length
    },
  }
}
