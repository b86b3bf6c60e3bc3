import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openRedis, type RedisLink } from '../../../src/server/stores/redis-link.ts'
import { createRedisSessionStore } from '../../../src/server/stores/redis-session-store.ts'
import { findProgram } from '../../support/programs.ts'
import { startRedis, type RedisServer } from '../../support/redis-server.ts'
import { sessionOf, sessionStoreContract } from '../../unit/stores/session-store-contract.ts'

const NOW = 1_800_000_000_000

// `scripts/test.ts` says in one line when there is no Redis.
describe.skipIf(findProgram('redis-server') === undefined)('sessions in Redis', () => {
  let redis: RedisServer
  let links: RedisLink[]

  beforeEach(async () => {
    redis = await startRedis()
    links = []
  })
  afterEach(async () => {
    for (const link of links) link.dispose()
    await redis[Symbol.asyncDispose]()
  })

  async function connect(): Promise<RedisLink> {
    const link = openRedis(redis.url, pino({ level: 'silent' }))
    links.push(link)
    await link.tried
    return link
  }

  sessionStoreContract(async () => [createRedisSessionStore(await connect()), createRedisSessionStore(await connect())])

  test('all expire by themselves, and so do their lists', async () => {
    const link = await connect()
    const store = createRedisSessionStore(link)
    await store.start(sessionOf('ann', 'a'), 5)
    await store.touch({ id: 'a', user: 'ann', seenAt: NOW + 60_000, expiresAt: NOW + 3_660_000 })
    const keys = await link.run((client) => client.keys('*'))
    expect(keys).toHaveLength(3)
    for (const key of keys) {
      const rest = await link.run((client) => client.pTTL(key))
      expect(rest).toBeGreaterThan(3_500_000)
      expect(rest).toBeLessThanOrEqual(3_600_000)
    }
  })

  test('of one client are bounded, and those of others stay', async () => {
    const store = createRedisSessionStore(await connect(), 2)
    await store.start(sessionOf('ann', 'honest', { client: '198.51.100.1' }), 20)
    for (const count of [1, 2, 3])
      await store.start(sessionOf(`bot ${count}`, `bot ${count}`, { expiresAt: NOW + count * 1_000 }), 20)
    expect(await store.read('bot 1', NOW)).toBeUndefined()
    expect(await store.read('bot 3', NOW)).toBeDefined()
    expect(await store.read('honest', NOW)).toBeDefined()
  })
})
