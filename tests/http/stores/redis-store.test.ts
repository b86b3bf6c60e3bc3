import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openRedis, type RedisLink } from '../../../src/server/stores/redis-link.ts'
import { createRedisStore } from '../../../src/server/stores/redis-store.ts'
import { checkRedisMemory } from '../../../src/server/stores/redis-memory.ts'
import { CALLS } from '../../../src/server/stores/idempotency-store.ts'
import { LIMITS } from '../../../src/server/stores/rate-limits.ts'
import { SESSIONS } from '../../../src/server/stores/session-store.ts'
import type { StoreKind } from '../../../src/server/stores/store.ts'
import { findProgram } from '../../support/programs.ts'
import { startRedis, type RedisServer } from '../../support/redis-server.ts'
import {
  boundedStoreContract,
  entryOf,
  GREEDY,
  HONEST,
  ROOMY,
  storeContract,
} from '../../unit/stores/store-contract.ts'

const NOW = 1_800_000_000_000
const HOUR = 3_600_000

let redis: RedisServer
let links: RedisLink[]

// `scripts/test.ts` says in one line when there is no Redis.
describe.skipIf(findProgram('redis-server') === undefined)('a store in Redis', () => {
  beforeEach(async () => {
    redis = await startRedis()
    links = []
  })
  afterEach(async () => {
    for (const link of links) link.dispose()
    await redis[Symbol.asyncDispose]()
  })

  async function connect(url = redis.url, application?: string): Promise<RedisLink> {
    const link = openRedis(url, pino({ level: 'silent' }), { application })
    links.push(link)
    await link.tried
    return link
  }

  const open = async (kind: StoreKind) => createRedisStore(await connect(), kind)

  /** Of all clients together, as the store accounts for it, which must be what there is. */
  async function count(kind: StoreKind): Promise<number> {
    const link = await connect()
    const prefix = `${link.prefix}:{${kind.name}}`
    const [keys, total, ages, clients] = await link.run(async (client) => [
      (await client.keys(`${prefix}:e:*`)).length,
      Number((await client.hGet(`${prefix}:t`, 'entries')) ?? 0),
      await client.zCard(`${prefix}:x`),
      (await client.zRangeWithScores(`${prefix}:entries`, 0, -1)).reduce((sum, { score }) => sum + score, 0),
    ])
    expect([total, ages, clients]).toEqual([keys, keys, keys])
    return keys ?? 0
  }

  storeContract(async (kind) => [await open(kind), await open(kind)])
  boundedStoreContract(open, count)

  test('refuses a value that is larger than the room of its client, and removes nothing for it', async () => {
    const store = await open({ ...ROOMY, bytes: 10_000 })
    await store.put(entryOf('small', { client: GREEDY }), NOW)
    await store.put(entryOf('large', { client: GREEDY, value: '' }), NOW)
    const large = entryOf('large', { client: GREEDY, value: 'x'.repeat(5_001) })
    expect(await store.put(large, NOW)).toEqual({ kept: undefined, found: undefined })
    expect((await store.get('large', NOW))?.value).toBe('')
    expect(await store.get('small', NOW)).toBeDefined()
  })

  test('has no key that Redis may evict, and leaves none behind', async () => {
    const [link, store, limits] = [await connect(), await open(ROOMY), await open({ ...ROOMY, name: 'limits' })]
    await store.put(entryOf('a'), NOW)
    await store.put(entryOf('b', { group: '', client: '' }), NOW)
    await limits.take('c', { points: 1, seconds: 60 }, NOW, GREEDY)
    await store.advance('bob', NOW)
    const keys = await link.run((client) => client.keys('*'))
    const lifetimes = await Promise.all(keys.map((key) => link.run((client) => client.pTTL(key))))
    expect([keys.length > 10, new Set(lifetimes)]).toEqual([true, new Set([-1])])
    for (const [key, group] of [
      ['a', 'ann'],
      ['b', ''],
    ] as const)
      await store.remove(key, group)
    const left = await link.run((client) => client.keys(`${link.prefix}:{sessions}:*`))
    expect(left.map((key) => key.slice(key.lastIndexOf(':') + 1)).toSorted()).toEqual(['h', 't'])
  })

  test('forgets the epochs of groups after a day', async () => {
    const [link, store] = [await connect(), await open(ROOMY)]
    for (const at of [NOW, NOW + HOUR, NOW + 25 * HOUR - 1]) await store.advance(`at ${at}`, at)
    const groups = await link.run((client) => client.zRange(`${link.prefix}:{sessions}:h`, 0, -1))
    expect(groups).toEqual([`at ${NOW + HOUR}`, `at ${NOW + 25 * HOUR - 1}`])
  })

  test('keeps all that it has while strangers fill the memory with what may be evicted', async () => {
    const [link, store] = [await connect(), await open(ROOMY)]
    const limits = await open({ ...ROOMY, name: 'limits' })
    const hour = { points: 1, seconds: 3_600 }
    for (let at = 0; at < 20; at += 1) await store.put(entryOf(`${at}`), NOW)
    expect((await limits.take('sign-in', hour, NOW, HONEST)).allowed).toBe(true)
    await link.run(async (client) => {
      await client.configSet({ maxmemory: '3mb', 'maxmemory-policy': 'volatile-lru' })
      for (let at = 0; at < 1_000; at += 1) {
        await client.set(`${link.prefix}:data:b:${at}`, 'x'.repeat(10_000), { expiration: { type: 'EX', value: 60 } })
      }
    }, 20_000)
    const info = await link.run((client) => client.info('stats'))
    expect(Number(/evicted_keys:(\d+)/.exec(info)?.[1])).toBeGreaterThan(100)
    expect((await store.list('ann', NOW)).length).toBe(20)
    expect((await limits.take('sign-in', hour, NOW, HONEST)).allowed).toBe(false)
    expect((await store.put(entryOf('new'), NOW)).kept).toBeDefined()
    expect((await store.advance('ann', NOW)).ended).toBe(21)
  })

  test.for([
    ['calls', 8_000],
    ['sessions', 100],
    ['sessions', 4_000],
  ] as const)('keeps room for others while one client fills 20 MB with %s of %d bytes', async ([name, bytes]) => {
    const { link, isWritten } = await small()
    const store = createRedisStore(link, name === 'calls' ? CALLS : SESSIONS)
    const value = 'x'.repeat(bytes)
    await many(Math.ceil(30_000_000 / (bytes + 1_000)), (at) =>
      store.put({ key: `${at}`, value, group: `${at}`, client: GREEDY, expiresAt: NOW + HOUR }, NOW),
    )
    await expect(isWritten()).resolves.toBe(true)
  })

  test('keeps room for others while one client fills 20 MB with limits, and others with epochs', async () => {
    const { link, isWritten } = await small()
    const [limits, sessions] = [createRedisStore(link, LIMITS), createRedisStore(link, SESSIONS)]
    await many(50_000, (at) => limits.take(`${at}`.padEnd(44, 'x'), { points: 1, seconds: 3_600 }, NOW, GREEDY))
    await many(50_000, (at) => sessions.advance(`${at}`.padEnd(44, 'x'), NOW))
    await expect(isWritten()).resolves.toBe(true)
  })

  /** A Redis of 20 MB. */
  async function small() {
    const before = await connect()
    await before.run((client) => client.configSet({ maxmemory: '20mb', 'maxmemory-policy': 'volatile-lru' }))
    const link = await connect()
    /** Whether half of the memory is free for all else, and each kind takes what is new. */
    async function isWritten(): Promise<boolean> {
      const used = /used_memory:(\d+)/.exec(await link.run((client) => client.info('memory')))?.[1]
      const put = (kind: StoreKind) => createRedisStore(link, kind).put(entryOf('new', { client: HONEST }), NOW)
      const results = await Promise.all([CALLS, SESSIONS].map(put))
      return Number(used) < 10_500_000 && results.every(({ kept }) => kept !== undefined)
    }
    return { link, isWritten }
  }

  async function many(count: number, work: (at: number) => Promise<unknown>): Promise<void> {
    const AT_ONCE = 500
    for (let at = 0; at < count; at += AT_ONCE) {
      await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - at) }, (_, more) => work(at + more)))
    }
  }

  test('has values of loaders make room where Redis is full and evicts nothing', async () => {
    const [link, store] = [await connect(), await open(ROOMY)]
    const keyOf = (at: number) => `${link.prefix}:data:build:${at}`
    await link.run(async (client) => {
      for (let at = 0; at < 1_000; at += 1) {
        await client.set(keyOf(at), 'x'.repeat(1_000), { expiration: { type: 'EX', value: 60 } })
      }
      await client.set('of another application', 'x')
      await client.configSet({ maxmemory: '1500kb', 'maxmemory-policy': 'noeviction' })
    }, 20_000)
    await Promise.all(
      Array.from({ length: 20 }, async (_, at) => {
        expect((await store.put(entryOf(`${at}`), NOW)).kept).toBeDefined()
      }),
    )
    expect(await link.run((client) => client.exists('of another application'))).toBe(1)
  })

  test('ends groups and removes entries also when Redis takes nothing more, and then has room again', async () => {
    const [link, store] = [await connect(), await open(ROOMY)]
    const { kept } = await store.put(entryOf('a'), NOW)
    await store.put(entryOf('b', { group: 'bob' }), NOW)
    await store.put(entryOf('over', { group: 'bob', expiresAt: NOW + 1 }), NOW)
    await link.run((client) => client.configSet({ maxmemory: '1', 'maxmemory-policy': 'noeviction' }))
    await expect(store.put(entryOf('c'), NOW)).rejects.toThrow('OOM')
    expect(await store.remove('b', 'bob')).toBe(true)
    expect((await store.advance('ann', NOW + 1)).ended).toBe(1)
    expect((await store.advance('nobody', NOW + 1)).epoch).toBe(NOW + 1)
    expect(await store.get('a', NOW)).toBeUndefined()
    // What has expired makes room.
    expect((await store.put(entryOf('d'), NOW + 1)).kept).toBeDefined()
    await link.run((client) => client.configSet('maxmemory', '0'))
    expect((await store.put(entryOf('e'), NOW + 1, { epoch: kept?.epoch ?? -1 })).kept).toBeUndefined()
  })

  test.for([
    ['another application', '', 'blog'],
    ['the same one in another database', '/1', 'shop'],
  ])('shares nothing with %s', async ([, path, application]) => {
    const [own, other] = [await connect(redis.url, 'shop'), await connect(`${redis.url}${path}`, application)]
    expect(other.prefix).not.toBe(own.prefix)
    await createRedisStore(own, ROOMY).put(entryOf('a'), NOW)
    expect(await createRedisStore(other, ROOMY).get('a', NOW)).toBeUndefined()
    const own2 = await connect(redis.url, 'shop')
    expect(await createRedisStore(own2, ROOMY).get('a', NOW)).toBeDefined()
  })

  test('has a prefix that no name of an application can break out of', async () => {
    const link = await connect(redis.url, `@shop/{x}:*[${'y'.repeat(100)}`)
    expect(link.prefix).toMatch(/^millrace:2:0:@shop\/_x____y{28}~[\w-]{22}$/)
  })

  test.for([
    ['noeviction', '0', true],
    ['noeviction', '100mb', true],
    ['allkeys-lru', '100mb', true],
    ['volatile-ttl', '100mb', true],
    ['volatile-lru', '0', true],
    ['volatile-lru', '100mb', false],
  ] as const)('says at the start whether %s with a maxmemory of %s is wrong', async ([policy, maxmemory, isWrong]) => {
    const link = await connect()
    await link.run((client) => client.configSet({ maxmemory, 'maxmemory-policy': policy }))
    const lines: object[] = []
    checkRedisMemory(link, { warn: (fields: object) => void lines.push(fields) } as never)
    checkRedisMemory(link, { warn: () => lines.push({ policy: 'sentinel' }) } as never)
    await link.run((client) => client.ping())
    await expect.poll(() => lines.length).toBe(isWrong ? 2 : 0)
    if (isWrong) expect(lines[0]).toMatchObject({ policy })
  })
})
