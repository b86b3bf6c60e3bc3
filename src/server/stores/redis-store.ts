import { ALLOWED, rateCells, refusal, toMicros } from './rate-cells.ts'
import type { RedisLink } from './redis-link.ts'
import { ADVANCE, GET, LIST, PUT, REMOVE, TAKE } from './redis-store-scripts.ts'
import type { Store, StoredEntry, StoreKind } from './store.ts'

/** Of an entry: value, group, client, expiry in microseconds, version, epoch; empty without one. */
type Fields = readonly string[]

/**
 * A `Store` in Redis. The caller's clock counts: clocks of servers differ by milliseconds, and what is kept lives for
 * minutes. All keys of a kind are in one slot of a cluster.
 * @throws {RedisGone} from all of its members, and errors of Redis.
 */
export function createRedisStore(link: Pick<RedisLink, 'script' | 'prefix'>, kind: StoreKind): Store {
  const prefix = `${link.prefix}:{${kind.name}}`
  const run = (lua: string, ...given: readonly (string | number)[]): Promise<unknown> =>
    link.script({ lua, keys: [prefix], arguments: given.map(String) })

  return {
    async get(key, now) {
      return toEntry(key, (await run(GET, key, toMicros(now))) as Fields)
    },
    async put(entry, now, { ifAbsent = false, ifVersion = '', epoch = '', mostOfGroup = '' } = {}) {
      const { key, value, group, client, expiresAt } = entry
      const given = [key, value, group, client, toMicros(expiresAt), toMicros(now)]
      const options = [ifAbsent ? 1 : '', ifVersion, epoch, mostOfGroup, kind.entries, kind.bytes]
      const [kept, found] = (await run(PUT, ...given, ...options)) as readonly [Fields, Fields]
      const [version, own] = kept
      if (version === undefined) return { found: toEntry(key, found) }
      return { kept: { ...entry, version: Number(version), epoch: Number(own) } }
    },
    remove: async (key, group) => (await run(REMOVE, key, group)) === 1,
    async list(group, now) {
      const entries = (await run(LIST, group, toMicros(now))) as readonly (readonly [string, Fields])[]
      return entries.map(([key, fields]) => toEntry(key, fields)).filter((entry) => entry !== undefined)
    },
    async advance(group, now, except = '') {
      const [ended, epoch] = (await run(ADVANCE, group, toMicros(now), Math.trunc(now), except)) as readonly unknown[]
      return { ended: Number(ended), epoch: Number(epoch) }
    },
    async take(key, limit, nowMs, client) {
      const cells = rateCells(limit)
      const now = toMicros(nowMs)
      const fullAt = Number(await run(TAKE, key, client, now, cells.window, cells.interval, kind.entries))
      return fullAt === 0 ? ALLOWED : refusal(fullAt, now, cells)
    },
  }
}

function toEntry(key: string, fields: Fields): StoredEntry | undefined {
  const [value, group = '', client = '', expires, version, epoch] = fields
  if (value === undefined) return undefined
  return {
    key,
    value,
    group,
    client,
    expiresAt: Number(expires) / 1_000,
    version: Number(version),
    epoch: Number(epoch),
  }
}
