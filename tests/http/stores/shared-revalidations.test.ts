/** Marks of dropped targets in Redis: what one visitor can name, and instances of two versions side by side. */
import { hash } from 'node:crypto'
import { pino } from 'pino'
import { describe, expect, onTestFinished, test } from 'vitest'
import { SharedRevalidations } from '../../../src/server/stores/cache/shared-revalidations.ts'
import { openRedis } from '../../../src/server/stores/redis-link.ts'
import { findProgram } from '../../support/programs.ts'
import { startRedis } from '../../support/redis-server.ts'

const log = pino({ level: 'silent' })

async function instanceOf(url: string) {
  const link = openRedis(url, log)
  onTestFinished(() => link.dispose())
  await link.tried
  const heard = new Set<string>()
  const shared = new SharedRevalidations({
    link,
    log,
    now: Date.now,
    onTargets: (targets) => targets.forEach((target) => heard.add(target)),
    onMissed: () => undefined,
  })
  onTestFinished(() => shared.dispose())
  return { link, shared, heard }
}

async function world() {
  const redis = await startRedis()
  onTestFinished(() => redis[Symbol.asyncDispose]())
  const { link, shared } = await instanceOf(redis.url)
  /** A value made now; tells whether it is dropped. */
  const value = async (...targets: readonly string[]) => {
    const { clock } = await shared.ask(targets)
    return async () => (await shared.ask(targets)).latest > clock
  }
  return { redis, link, shared, value }
}

/** How versions before have marked targets. */
const markBefore = (target: string): string => hash('sha256', target, 'hex').slice(0, 4)

const REVALIDATE_BEFORE = `
if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('SET', KEYS[1], ARGV[1]) end
redis.call('INCR', KEYS[1])
local now = redis.call('GET', KEYS[1])
for index = 2, #ARGV do redis.call('HSET', KEYS[2], ARGV[index], now) end`

// `scripts/test.ts` says in one line when there is no Redis.
describe.skipIf(findProgram('redis-server') === undefined)('a drop in Redis', () => {
  test('is none of another target, whatever a visitor computes for its name', async () => {
    const { shared, value } = await world()
    const [all, news] = [await value('/*'), await value('news')]
    const like = (target: string): string => {
      for (let at = 0; ; at += 1) if (markBefore(`mill:${at}`) === markBefore(target)) return `mill:${at}`
    }
    await shared.add([like('/*'), like('news')])
    expect([await all(), await news()]).toEqual([false, false])
    await shared.add(['news'])
    expect([await all(), await news()]).toEqual([false, true])
  })

  test(
    'takes bounded room: beyond 25,000 more, what was made before it counts as dropped',
    { timeout: 60_000 },
    async () => {
      const { link, shared, value } = await world()
      const drop = async (start: number, many: number): Promise<void> => {
        for (let from = start; from < start + many; from += 1_000)
          await shared.add(Array.from({ length: 1_000 }, (_, at) => `visitor:${from + at}`))
      }
      const [oldest, dropped] = [await value('never'), await value('visitor:7')]
      await drop(0, 26_000)
      const [newer, again] = [await value('never'), await value('visitor:26007')]
      expect([await oldest(), await dropped()]).toEqual([false, true])
      await drop(26_000, 20_000)
      expect([await oldest(), await newer(), await dropped(), await again()]).toEqual([false, false, true, true])
      await drop(46_000, 20_000)
      expect([await oldest(), await newer(), await dropped(), await again()]).toEqual([true, false, true, true])
      const sizes = await link.run(async (client) => {
        const keys = await client.keys(`${link.prefix}:{data}:*`)
        const bytes = await Promise.all(keys.map((key) => client.memoryUsage(key, { SAMPLES: 0 })))
        return bytes.reduce((sum: number, each) => sum + (each ?? 0), 0)
      })
      expect(sizes).toBeLessThan(5_800_000)
    },
  )

  test('more names than a script takes are sent in several', async () => {
    const { shared, value } = await world()
    const last = await value('visitor:4999')
    await shared.add(Array.from({ length: 5_000 }, (_, at) => `visitor:${at}`))
    expect(await last()).toBe(true)
  })

  test('is marked, and told to others, also when Redis is full and evicts nothing', async () => {
    const { redis, link, shared, value } = await world()
    const other = await instanceOf(redis.url)
    await expect.poll(() => other.shared.isHearing).toBe(true)
    const [news, rest] = [await value('news'), await value('rest')]
    await link.run((client) => client.configSet({ maxmemory: '1', 'maxmemory-policy': 'noeviction' }))
    await expect(link.run((client) => client.set('a', ''))).rejects.toThrow('OOM')
    await shared.add(['news'])
    expect([await news(), await rest(), await shared.pay()]).toEqual([true, false, true])
    await expect.poll(() => other.heard).toContain('news')
  })

  test('is told to others also when Redis refuses marks, and none trusts its values until it takes them', async () => {
    const { redis, link, shared, value } = await world()
    const other = await instanceOf(redis.url)
    await expect.poll(() => other.shared.isHearing).toBe(true)
    const news = await value('news')
    await link.run((client) => client.replicaOf('127.0.0.1', 1))
    expect(await other.shared.pay()).toBe(true)
    await shared.add(['news'])
    await expect.poll(() => other.heard).toContain('news')
    const late = await instanceOf(redis.url)
    for (const each of [shared, other.shared, late.shared]) expect(await each.pay()).toBe(false)
    expect(await news()).toBe(false)
    await link.run((client) => client.sendCommand(['REPLICAOF', 'NO', 'ONE']))
    // Whichever of those that have heard it pays first.
    expect(await other.shared.pay()).toBe(true)
    expect(await news()).toBe(true)
    expect(await late.shared.pay()).toBe(true)
  })

  test('is one for instances of versions that mark with 16 bits, and theirs is one for this', async () => {
    const { link, shared, value } = await world()
    const keys = [`${link.prefix}:{data}:clock`, `${link.prefix}:{data}:marks`]
    const clock = async (): Promise<number> => Number(await link.run((client) => client.get(keys[0] ?? '')))
    const dropBefore = (target: string) =>
      link.script({ lua: REVALIDATE_BEFORE, keys, arguments: ['1', markBefore(target)] })
    await shared.add(['other'])
    const mine = await value('news')
    await dropBefore('news')
    expect(await mine()).toBe(true)
    // Also after a drop of this version.
    const [next, theirs] = [await value('news'), await clock()]
    await dropBefore('news')
    await shared.add(['other'])
    expect(await next()).toBe(true)
    expect(await (await value('news'))()).toBe(false)
    const mark = await link.run((client) => client.hGet(keys[1] ?? '', markBefore('/*')))
    expect(Number(mark)).toBeGreaterThan(theirs)
  })
})
