import { cellOf, cellsName } from './crowded-keys.ts'
import { ALLOWED, rateCells, refusal, toMicros } from './rate-cells.ts'
import type { RedisLink } from './redis-link.ts'
import { redisRoom } from './redis-memory.ts'
import { ADVANCE, GET, LIST, PUT, REMOVE, TAKE } from './redis-store-scripts.ts'
import { MOST_EPOCHS, type Store, type StoredEntry, type StoreKind } from './store.ts'

/** What Redis takes for an entry beside its value, at most: its hash, its places in sets, and a set of its group. */
const ENTRY_BYTES = { limits: 512, calls: 1_024, sessions: 1_024 } as const
const EPOCH_BYTES = 192

/** Of an entry: value, group, client, expiry in microseconds, version, epoch; empty without one. */
type Fields = readonly string[]

/**
 * A `Store` in Redis. The caller's clock counts: clocks of servers differ by milliseconds, and what is kept lives for
 * minutes. All keys of a kind are in one slot of a cluster.
 * @throws {RedisGone} from all of its members, and errors of Redis.
 */
export function createRedisStore(link: Pick<RedisLink, 'script' | 'prefix' | 'maxmemory'>, kind: StoreKind): Store {
  const prefix = `${link.prefix}:{${kind.name}}`
  const run = (lua: string, ...given: readonly (string | number)[]): Promise<unknown> =>
    link.script({ lua, keys: [prefix], arguments: given.map(String) })

  /** Of the kind, as far as Redis has the memory for it. */
  const mostEntries = (): number =>
    atMost(kind.entries, redisRoom(link, `${kind.name} entries`) / ENTRY_BYTES[kind.name])
  const mostBytes = (): number => atMost(kind.bytes, redisRoom(link, `${kind.name} bytes`))
  const mostEpochs = (): number => atMost(MOST_EPOCHS, redisRoom(link, 'epochs') / EPOCH_BYTES)

  return {
    async get(key, now) {
      return toEntry(key, (await run(GET, key, toMicros(now))) as Fields)
    },
    async put(entry, now, { ifAbsent = false, ifVersion = '', epoch = '', mostOfGroup = '' } = {}) {
      const { key, value, group, client, expiresAt } = entry
      const given = [key, value, group, client, toMicros(expiresAt), toMicros(now)]
      const options = [ifAbsent ? 1 : '', ifVersion, epoch, mostOfGroup, mostEntries(), mostBytes()]
      const [kept, found] = (await run(PUT, ...given, ...options)) as readonly [Fields, Fields]
      const [version, own] = kept
      if (version === undefined) return { found: toEntry(key, found) }
      return { kept: { ...entry, version: Number(version), epoch: Number(own) } }
    },
    remove: async (key, group, ifVersion) => (await run(REMOVE, key, group, ifVersion ?? '')) === 1,
    async list(group, now) {
      const entries = (await run(LIST, group, toMicros(now))) as readonly (readonly [string, Fields])[]
      return entries.map(([key, fields]) => toEntry(key, fields)).filter((entry) => entry !== undefined)
    },
    async advance(group, now, except = '') {
      const given = [group, toMicros(now), Math.trunc(now), except, mostEpochs()]
      const [ended, epoch] = (await run(ADVANCE, ...given)) as readonly unknown[]
      return { ended: Number(ended), epoch: Number(epoch) }
    },
    async take(key, limit, nowMs, client) {
      const cells = rateCells(limit)
      const now = toMicros(nowMs)
      const given = [key, client, now, cells.window, cells.interval, mostEntries()]
      const fullAt = Number(await run(TAKE, ...given, cellsName(client, cells), cellOf(key)))
      return fullAt === 0 ? ALLOWED : refusal(fullAt, now, cells)
    },
  }
}

const atMost = (bound: number, room: number): number => Math.min(bound, Math.max(1, Math.trunc(room)))

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
