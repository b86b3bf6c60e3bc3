import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createRedisDeliveryLease } from '../../../src/server/reports/delivery/redis-delivery-lease.ts'
import { createRedisSpool, spoolPrefix } from '../../../src/server/reports/spool/redis-spool.ts'
import { openRedis, type RedisLink } from '../../../src/server/stores/redis-link.ts'
import { findProgram } from '../../support/programs.ts'
import { startRedis, type RedisServer } from '../../support/redis-server.ts'
import { NOW, sampleEnvelope } from '../../unit/reports/sample-envelope.ts'
import { spoolContract } from '../../unit/reports/spool-contract.ts'

const DAY_MS = 86_400_000

let redis: RedisServer
let links: RedisLink[]

async function openLink(): Promise<RedisLink> {
  const link = openRedis(redis.url, pino({ level: 'silent' }))
  links.push(link)
  await link.tried
  return link
}

// `scripts/test.ts` says in one line when there is no Redis.
describe.skipIf(findProgram('redis-server') === undefined)('the spool that instances share', () => {
  beforeEach(async () => {
    links = []
    redis = await startRedis()
  })
  afterEach(async () => {
    for (const link of links) link.dispose()
    await redis[Symbol.asyncDispose]()
  })

  spoolContract(async (bounds, destination) => createRedisSpool(await openLink(), { destination, bounds }))

  test('leaves nothing behind when all is delivered', async () => {
    const link = await openLink()
    const spool = createRedisSpool(link, { destination: 'one' })
    for (const keep of ['error', 'other'] as const) await spool.accept(sampleEnvelope({ keep }))
    for (const entry of await spool.list('error', 0, 10)) await spool.settle(entry)
    expect((await link.run((client) => client.keys('*'))).toSorted()).toEqual(
      ['id', 't'].map((name) => `${spoolPrefix(link, 'one')}:${name}`),
    )
  })

  test('is not thrown out by a Redis that needs room', async () => {
    const link = await openLink()
    const spool = createRedisSpool(link, { destination: 'one' })
    await spool.accept(sampleEnvelope())
    for (const key of await link.run((client) => client.keys('*'))) {
      expect(await link.run((client) => client.ttl(key))).toBe(-1)
    }
  })

  test('leaves the most of 20 MB to all else, and what is larger than a share to the disk', async () => {
    const before = await openLink()
    await before.run((client) => client.configSet({ maxmemory: '20mb', 'maxmemory-policy': 'volatile-lru' }))
    const spool = createRedisSpool(await openLink(), { destination: 'one' })
    for (let at = 0; at < 200; at += 1) await spool.accept(sampleEnvelope({ eventId: `${at}`, bytes: 100_000 }))
    await spool.accept(sampleEnvelope({ client: 'honest', eventId: 'honest', bytes: 100_000 }))
    expect((await spool.size()).bytes).toBeLessThan(1_300_000)
    expect((await spool.list('error', 0, 100)).map(({ eventId }) => eventId)).toContain('honest')
    const large = spool.accept(sampleEnvelope({ bytes: 700_000 }))
    await expect(large).rejects.toMatchObject({ name: 'RedisGone' })
  })

  test('delivers and counts even while Redis is full', async () => {
    const link = await openLink()
    const spool = createRedisSpool(link, { destination: 'one' })
    const lease = createRedisDeliveryLease(link, { destination: 'one', owner: 'one' })
    await spool.accept(sampleEnvelope({ receivedAt: NOW - 8 * DAY_MS }))
    for (const eventId of ['a', 'b']) await spool.accept(sampleEnvelope({ eventId }))
    await link.run((client) => client.configSet('maxmemory', '1'))
    await expect(spool.accept(sampleEnvelope())).rejects.toThrow('OOM')
    expect(await lease.hold(NOW)).toBe(true)
    expect(await spool.expire(NOW, () => 'network_error')).toBe(1)
    const [first, second] = await spool.list('error', 0, 10)
    if (first === undefined || second === undefined) throw new Error('two were accepted')
    await spool.settle(first)
    await spool.settle(second, 'send_error')
    expect((await spool.size()).envelopes).toBe(0)
    expect(await spool.reportLosses(NOW)).toEqual({ 'network_error error': 1, 'send_error error': 1 })
  })

  test('lets nothing go for an envelope of before a loss of its data', async () => {
    const link = await openLink()
    const spool = createRedisSpool(link, { destination: 'one' })
    await spool.accept(sampleEnvelope())
    const [before] = await spool.list('error', 0, 10)
    await link.run((client) => client.flushAll())
    await spool.accept(sampleEnvelope())
    const [after] = await spool.list('error', 0, 10)
    if (before === undefined || after === undefined) throw new Error('each was accepted')
    expect(after.id).toBeGreaterThan(before.id)
    await spool.settle(before)
    await spool.settle({ ...after, eventId: 'of another' })
    expect((await spool.size()).envelopes).toBe(1)
  })

  test.for(['former', 'https://former@[::1]/1', 'former*?\\'])(
    'forgets %s once nobody delivers there',
    async (gone) => {
      const link = await openLink()
      const [former, current] = [gone, 'current'].map((destination) => createRedisSpool(link, { destination }))
      await former?.accept(sampleEnvelope())
      await former?.expire(NOW, () => 'network_error')
      await current?.expire(NOW + 7 * DAY_MS, () => 'network_error')
      expect((await former?.size())?.envelopes).toBe(1)
      await current?.expire(NOW + 9 * DAY_MS, () => 'network_error')
      expect(await link.run((client) => client.keys('*former*'))).toEqual([])
    },
  )

  test('is delivered from by one process, and by another once that has ended, died, or lost its time', async () => {
    const lease = async (owner: string, gone = '') =>
      createRedisDeliveryLease(await openLink(), {
        destination: 'one',
        owner,
        lifetimeMs: 300,
        isGone: (holder) => holder === gone,
      })
    const [one, other, sees] = [await lease('one'), await lease('other'), await lease('third', 'other')]
    expect([await one.hold(NOW), await other.hold(NOW), await one.hold(NOW + 250)]).toEqual([true, false, true])
    await other.release()
    expect(await other.hold(NOW)).toBe(false)
    await one.release()
    expect(await other.hold(NOW)).toBe(true)
    expect(await sees.hold(NOW)).toBe(true)
    await expect.poll(() => one.hold(NOW)).toBe(true)
    expect(await sees.hold(NOW + 250)).toBe(false)
  })
})
