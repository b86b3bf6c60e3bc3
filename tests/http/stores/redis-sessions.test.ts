import { pino } from 'pino'
import { afterEach, beforeEach, describe } from 'vitest'
import { openRedis, type RedisLink } from '../../../src/server/stores/redis-link.ts'
import { createRedisStore } from '../../../src/server/stores/redis-store.ts'
import { createSessionStore, SESSIONS, type SessionStore } from '../../../src/server/stores/session-store.ts'
import { findProgram } from '../../support/programs.ts'
import { startRedis, type RedisServer } from '../../support/redis-server.ts'
import { sessionStoreContract } from '../../unit/stores/session-store-contract.ts'

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

  const open = async (): Promise<SessionStore> => createSessionStore(createRedisStore(await connect(), SESSIONS))

  sessionStoreContract(async () => [await open(), await open()])
})
