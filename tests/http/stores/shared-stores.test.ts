import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createIdempotencyStore, type IdempotencyStore } from '../../../src/server/stores/idempotency-store.ts'
import { createRateLimits, type RateLimits } from '../../../src/server/stores/rate-limits.ts'
import { openRedis, type RedisLink } from '../../../src/server/stores/redis-link.ts'
import { createRedisIdempotencyStore } from '../../../src/server/stores/redis-idempotency-store.ts'
import { createRedisRateLimits } from '../../../src/server/stores/redis-rate-limits.ts'
import { openRuntimeDatabase } from '../../../src/server/stores/runtime-database.ts'
import { sharedIdempotencyStore, sharedRateLimits, watchSharedStore } from '../../../src/server/stores/shared-first.ts'
import { findProgram } from '../../support/programs.ts'
import { startRedis, type RedisServer } from '../../support/redis-server.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { onceStoreContract } from '../../unit/stores/idempotency-store-contract.ts'
import {
  crowdedRateLimitsContract,
  GREEDY,
  HONEST,
  rateLimitsContract,
} from '../../unit/stores/rate-limits-contract.ts'

const NOW = 1_800_000_000_000
const NOWHERE = 'redis://127.0.0.1:1'
const LIMIT = { points: 2, seconds: 60 }

let redis: RedisServer
let lines: string[]
let opened: { dispose(): void | Promise<void> }[]

/** An instance of the application. */
interface Instance {
  readonly link: RedisLink
  readonly limits: RateLimits
  readonly once: IdempotencyStore
}

async function startInstance(url = redis.url): Promise<Instance> {
  const log = pino({}, { write: (line: string) => void lines.push((JSON.parse(line) as { msg: string }).msg) })
  const link = openRedis(url, log)
  const folder = await makeTempDir('stores')
  const database = openRuntimeDatabase(folder.path)
  opened.push(link, database, { dispose: () => folder.remove() })
  await link.tried
  const watch = watchSharedStore(log)
  return {
    link,
    limits: sharedRateLimits(createRedisRateLimits(link), createRateLimits(database), watch),
    once: sharedIdempotencyStore(createRedisIdempotencyStore(link), createIdempotencyStore(database), watch),
  }
}

beforeEach(async () => {
  lines = []
  opened = []
  redis = await startRedis()
})
afterEach(async () => {
  for (const each of opened) await each.dispose()
  await redis[Symbol.asyncDispose]()
})

// `scripts/test.ts` says in one line when there is no Redis.
describe.skipIf(findProgram('redis-server') === undefined)('stores that instances share', () => {
  const twoLinks = async (): Promise<readonly [RedisLink, RedisLink]> => [
    (await startInstance()).link,
    (await startInstance()).link,
  ]

  describe('limits in Redis', () => {
    rateLimitsContract(async () => {
      const [one, other] = await twoLinks()
      return [createRedisRateLimits(one), createRedisRateLimits(other)]
    })
  })

  describe('limits in Redis, of many clients', () => {
    crowdedRateLimitsContract(async (keys) => createRedisRateLimits((await startInstance()).link, { keys }))

    test('take no more room than the bound of each client, however often its keys are used', async () => {
      const { link } = await startInstance()
      const limits = createRedisRateLimits(link, { keys: 10 })
      const hour = { points: 100, seconds: 3_600 }
      const use = async (from: number, minute: number): Promise<void> => {
        for (let key = from; key < from + 10; key += 1) await limits.take(`${key}`, hour, NOW + minute * 60_000, GREEDY)
      }
      // For so long that what was noted when they were new is out of date.
      for (let minute = 0; minute < 130; minute += 10) await use(0, minute)
      await use(10, 130)
      expect(await link.run((client) => client.keys('millrace:1:limit:*'))).toHaveLength(10)
      expect(await link.run((client) => client.zCard(`millrace:1:limits:{=${GREEDY}}`))).toBe(10)
    })

    test('are not another client’s to push out once they have been made again by somebody else', async () => {
      const { link } = await startInstance()
      const limits = createRedisRateLimits(link, { keys: 1 })
      const once = { points: 1, seconds: 60 }
      await limits.take('a', once, NOW, GREEDY)
      // All points are back, while its first client's list still names it.
      await link.run((client) => client.del('millrace:1:limit:{=a}'))
      await limits.take('a', once, NOW + 61_000, HONEST)
      await limits.take('b', once, NOW + 61_000, GREEDY)
      expect((await limits.take('a', once, NOW + 61_000, HONEST)).allowed).toBe(false)
    })
  })

  describe('limits of instances', () => {
    rateLimitsContract(async () => [(await startInstance()).limits, (await startInstance()).limits])
  })

  describe('limits of an instance without its Redis', () => {
    rateLimitsContract(async () => {
      const { limits } = await startInstance(NOWHERE)
      return [limits, limits]
    })
  })

  describe('calls in Redis', () => {
    onceStoreContract(async () => {
      const [one, other] = await twoLinks()
      return [createRedisIdempotencyStore(one), createRedisIdempotencyStore(other)]
    })
  })

  describe('calls of instances', () => {
    onceStoreContract(async () => [(await startInstance()).once, (await startInstance()).once])
  })

  describe('calls of an instance without its Redis', () => {
    onceStoreContract(async () => {
      const { once } = await startInstance(NOWHERE)
      return [once, once]
    })
  })

  test('go by themselves', async () => {
    const { link, limits, once } = await startInstance()
    await limits.take('a', LIMIT, Date.now())
    await once.begin('a', Date.now())
    await once.begin('b', Date.now())
    await once.finish('b', 'x', Date.now())
    const keys = await link.run((client) => client.keys('*'))
    expect(keys.toSorted()).toEqual([
      'millrace:1:call-bytes:{=}',
      'millrace:1:calls:{=}',
      'millrace:1:limit:{=a}',
      'millrace:1:limits:{=}',
      'millrace:1:once:{=a}',
      'millrace:1:once:{=b}',
    ])
    const left = await Promise.all(keys.toSorted().map((key) => link.run((client) => client.pTTL(key))))
    expect(left.map((ms) => ms > 0)).toEqual(keys.map(() => true))
    expect(Math.max(...left)).toBeLessThanOrEqual(600_000)
    expect(left[2]).toBeLessThanOrEqual(30_000)
    expect(left[3]).toBeLessThanOrEqual(120_000)
  })

  test.for([
    ['keys', { keys: 5, bytes: 1_000_000 }, ''],
    ['bytes', { keys: 1_000_000, bytes: 500 }, 'x'.repeat(100)],
  ] as const)(
    'lose the oldest of a client that has too many, by %s, and nothing of others',
    async ([, bounds, result]) => {
      const { link } = await startInstance()
      const store = createRedisIdempotencyStore(link, bounds)
      const call = async (key: string, client: string, at: number): Promise<void> => {
        await store.begin(key, at, client)
        await store.finish(key, result, at, client)
      }
      await call('honest', '203.0.113.9', NOW)
      for (let at = 0; at < 50; at += 1) await call(`greedy ${at}`, '198.51.100.7', NOW + at)
      expect((await store.begin('honest', NOW + 50)).state).toBe('done')
      expect((await store.begin('greedy 49', NOW + 50)).state).toBe('done')
      expect((await link.run((client) => client.keys('*:once:*'))).length).toBe(6)
      await call('greedy later', '198.51.100.7', NOW + 600_050)
      expect(await link.run((client) => client.zCard('millrace:1:calls:{=198.51.100.7}'))).toBe(1)
    },
  )

  test('hold no large results, and run their calls no second time for it', async () => {
    const [one, other] = [await startInstance(), await startInstance()]
    await one.once.begin('a', NOW)
    await one.once.finish('a', 'é'.repeat(524_289), NOW)
    expect(await other.once.begin('a', NOW)).toEqual({ state: 'running' })
    expect((await one.once.begin('a', NOW)).state).toBe('done')
    const size = await one.link.run((client) => client.memoryUsage('millrace:1:once:{=a}'))
    expect(size).toBeLessThan(1_000)
  })

  test('are counted here while Redis is away, and together again when it is back', async () => {
    const { link, limits } = await startInstance()
    for (const _ of [1, 2]) expect((await limits.take('a', LIMIT, NOW)).allowed).toBe(true)
    await redis.stop()
    for (const _ of [1, 2]) expect((await limits.take('a', LIMIT, NOW)).allowed).toBe(true)
    expect((await limits.take('a', LIMIT, NOW)).allowed).toBe(false)
    await redis.start()
    await expect.poll(() => link.connected).toBe(true)
    const other = await startInstance()
    for (const { limits: each } of [{ limits }, other]) expect((await each.take('a', LIMIT, NOW)).allowed).toBe(true)
    expect((await limits.take('a', LIMIT, NOW)).allowed).toBe(false)
    expect(lines).toEqual(['the shared store cannot be reached', 'the shared store is there again'])
  })

  test('run no call again for the loss of Redis, nor for its return', async () => {
    const { link, once } = await startInstance()
    await once.begin('before', NOW)
    await once.finish('before', '1', NOW)
    await redis.stop()
    expect(await once.begin('before', NOW)).toEqual({ state: 'done', result: '1' })
    expect(await once.begin('meanwhile', NOW)).toEqual({ state: 'new' })
    await once.finish('meanwhile', '2', NOW)
    expect(await once.begin('over the return', NOW)).toEqual({ state: 'new' })
    await redis.start()
    await expect.poll(() => link.connected).toBe(true)
    expect(await once.begin('meanwhile', NOW)).toEqual({ state: 'done', result: '2' })
    await once.finish('over the return', '3', NOW)
    const other = await startInstance()
    expect(await other.once.begin('over the return', NOW)).toEqual({ state: 'done', result: '3' })
  })

  test('leave nothing of a call behind that another instance has run', async () => {
    const [one, other] = [await startInstance(), await startInstance()]
    await one.once.begin('a', NOW)
    expect(await other.once.begin('a', NOW)).toEqual({ state: 'running' })
    await one.once.finish('a', 'x', NOW)
    expect(await other.once.begin('a', NOW)).toEqual({ state: 'done', result: 'x' })
  })

  test('do without a Redis that is full, and say so once', async () => {
    const { link, limits, once } = await startInstance()
    await link.run((client) => client.configSet('maxmemory', '1'))
    for (const _ of [1, 2]) expect((await limits.take('a', LIMIT, NOW)).allowed).toBe(true)
    expect((await limits.take('a', LIMIT, NOW)).allowed).toBe(false)
    expect(await once.begin('a', NOW)).toEqual({ state: 'new' })
    expect(await once.begin('a', NOW)).toEqual({ state: 'running' })
    expect(lines).toEqual(['the shared store refuses what it is asked'])
  })

  test('cost no wait while Redis hangs, but for the first who asks', async () => {
    const { limits } = await startInstance()
    redis.pause()
    const startedAt = performance.now()
    const wide = { points: 1_000, seconds: 60 }
    for (let count = 0; count < 100; count += 1) expect((await limits.take('a', wide, NOW)).allowed).toBe(true)
    const tookMs = performance.now() - startedAt
    redis.resume()
    // A hundred waits would be 50 seconds.
    expect(tookMs).toBeLessThan(10_000)
  })
})
