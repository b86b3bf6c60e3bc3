import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { CALLS, createIdempotencyStore, type IdempotencyStore } from '../../../src/server/stores/idempotency-store.ts'
import { createRateLimits, LIMITS, type RateLimits } from '../../../src/server/stores/rate-limits.ts'
import { openRedis, type RedisLink } from '../../../src/server/stores/redis-link.ts'
import { createRedisStore } from '../../../src/server/stores/redis-store.ts'
import { createSqliteStore } from '../../../src/server/stores/sqlite-store.ts'
import { openRuntimeDatabase } from '../../../src/server/stores/store-databases.ts'
import { sharedIdempotencyStore, sharedRateLimits, watchSharedStore } from '../../../src/server/stores/shared-first.ts'
import { findProgram } from '../../support/programs.ts'
import { startRedis, type RedisServer } from '../../support/redis-server.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { onceStoreContract } from '../../unit/stores/idempotency-store-contract.ts'
import { crowdedRateLimitsContract, rateLimitsContract } from '../../unit/stores/rate-limits-contract.ts'

const NOW = 1_800_000_000_000
const NOWHERE = 'redis://127.0.0.1:1'
const LIMIT = { points: 2, seconds: 60 }
const SOON = { timeout: 10_000 }

let redis: RedisServer
let lines: string[]
let opened: { dispose(): void | Promise<void> }[]

/** An instance of the application. */
interface Instance {
  readonly link: RedisLink
  readonly limits: RateLimits
  readonly calls: IdempotencyStore
}

const limitsIn = (link: RedisLink, entries = LIMITS.entries): RateLimits =>
  createRateLimits(createRedisStore(link, { ...LIMITS, entries }))
const callsIn = (link: RedisLink): IdempotencyStore => createIdempotencyStore(createRedisStore(link, CALLS))

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
    limits: sharedRateLimits(limitsIn(link), createRateLimits(createSqliteStore(database, LIMITS)), watch),
    calls: sharedIdempotencyStore(callsIn(link), createIdempotencyStore(createSqliteStore(database, CALLS)), watch),
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
      return [limitsIn(one), limitsIn(other)]
    })
  })

  describe('limits in Redis, of many clients', () => {
    crowdedRateLimitsContract(async (keys) => limitsIn((await startInstance()).link, keys))
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
      return [callsIn(one), callsIn(other)]
    })
  })

  describe('calls of instances', () => {
    onceStoreContract(async () => [(await startInstance()).calls, (await startInstance()).calls])
  })

  describe('calls of an instance without its Redis', () => {
    onceStoreContract(async () => {
      const { calls } = await startInstance(NOWHERE)
      return [calls, calls]
    })
  })

  test('hold no large results, and run their calls no second time for it', async () => {
    const [one, other] = [await startInstance(), await startInstance()]
    await one.calls.begin('a', NOW)
    await one.calls.finish('a', 'é'.repeat(524_289), NOW)
    for (const { calls } of [one, other]) expect(await calls.begin('a', NOW)).toEqual({ state: 'lost' })
    const key = `${one.link.prefix}:{calls}:e:=a`
    expect(await one.link.run((client) => client.memoryUsage(key))).toBeLessThan(1_000)
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
    const { link, calls } = await startInstance()
    await calls.begin('before', NOW)
    await calls.finish('before', '1', NOW)
    await redis.stop()
    expect(await calls.begin('before', NOW)).toEqual({ state: 'done', result: '1' })
    expect(await calls.begin('meanwhile', NOW)).toEqual({ state: 'new' })
    await calls.finish('meanwhile', '2', NOW)
    expect(await calls.begin('over the return', NOW)).toEqual({ state: 'new' })
    await redis.start()
    await expect.poll(() => link.connected).toBe(true)
    expect(await calls.begin('meanwhile', NOW)).toEqual({ state: 'done', result: '2' })
    await calls.finish('over the return', '3', NOW)
    const other = await startInstance()
    expect(await other.calls.begin('over the return', NOW)).toEqual({ state: 'done', result: '3' })
  })

  test('leave nothing of a call behind that another instance has run', async () => {
    const [one, other] = [await startInstance(), await startInstance()]
    await one.calls.begin('a', NOW)
    expect(await other.calls.begin('a', NOW)).toEqual({ state: 'running' })
    await one.calls.finish('a', 'x', NOW)
    expect(await other.calls.begin('a', NOW)).toEqual({ state: 'done', result: 'x' })
  })

  test.each(['hangs', 'takes no writes'])(
    'give the result of a call that ended while Redis %s to others',
    async (how) => {
      const [one, other] = [await startInstance(), await startInstance()]
      for (const key of ['ended', 'left']) await one.calls.begin(key, NOW)
      if (how === 'hangs') redis.pause()
      else await one.link.run((client) => client.sendCommand(['REPLICAOF', '127.0.0.1', '1']))
      await one.calls.finish('ended', 'x', NOW)
      await one.calls.abandon('left')
      if (how === 'hangs') redis.resume()
      else await other.link.run((client) => client.sendCommand(['REPLICAOF', 'NO', 'ONE']))
      await expect.poll(() => other.calls.begin('ended', NOW), SOON).toEqual({ state: 'done', result: 'x' })
      await expect.poll(() => other.calls.has('left', NOW), SOON).toBe(false)
    },
  )

  test('let a call run again here as soon as Redis is back, if it may', async () => {
    const [{ link, calls }, other] = [await startInstance(), await startInstance()]
    await calls.begin('left', NOW)
    await link.run((client) => client.sendCommand(['REPLICAOF', '127.0.0.1', '1']))
    await calls.abandon('left')
    // Its own connection may have been given up for that.
    await other.link.run((client) => client.sendCommand(['REPLICAOF', 'NO', 'ONE']))
    expect(await calls.begin('left', NOW)).toEqual({ state: 'new' })
  })

  test('do without a Redis that is full, and say so calls', async () => {
    const { link, limits, calls } = await startInstance()
    await link.run((client) => client.configSet('maxmemory', '1'))
    for (const _ of [1, 2]) expect((await limits.take('a', LIMIT, NOW)).allowed).toBe(true)
    expect((await limits.take('a', LIMIT, NOW)).allowed).toBe(false)
    expect(await calls.begin('a', NOW)).toEqual({ state: 'new' })
    expect(await calls.begin('a', NOW)).toEqual({ state: 'running' })
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
