import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import type { CachedOptions } from '../../../src/server/stores/cache/cached-read.ts'
import { limitedRead } from '../../../src/server/stores/cache/value-source.ts'
import { createDataCache, type DataCacheOptions } from '../../../src/server/stores/cache/data-cache.ts'

function cacheWorld(options: Partial<DataCacheOptions> = {}) {
  const log = pino({ level: 'silent' })
  const cache = createDataCache({ buildId: 'test', redis: undefined, log, now: () => 1_000_000, ...options })
  const read = (
    key: string,
    read: () => number,
    given: CachedOptions = { seconds: 60 },
    pathname = '/',
    used: string[] = [],
  ): Promise<number> =>
    cache.read(
      { key, options: given, read },
      { pathname, of: cache, used: (tags) => used.push(...tags), failed: () => undefined },
    )
  return { cache, read }
}

describe('names of any length and number', () => {
  test('drop what has them, and are short in memory and in what processes tell each other', async () => {
    const told: string[] = []
    const { cache, read } = cacheWorld({ onRevalidate: async (targets) => void told.push(...targets) })
    const long = `mill:${'a'.repeat(900_000)}`
    const used: string[] = []
    expect(await read('k', () => 1, { seconds: 60, tags: [long] }, '/', used)).toBe(1)
    cache.onDrop((targets) => told.push(...(targets ?? [])))
    told.length = 0
    await cache.revalidate([`${long}b`])
    expect(await read('k', () => 2, { seconds: 60, tags: [long] })).toBe(1)
    await cache.revalidate([long, long])
    expect(await read('k', () => 3, { seconds: 60, tags: [long] })).toBe(3)
    expect(told).toHaveLength(4)
    expect(Math.max(...[...told, ...used].map((name) => name.length))).toBeLessThan(101)
  })

  test('longer than any URL are told to nobody', async () => {
    const told: unknown[] = []
    const { cache, read } = cacheWorld({ onRevalidate: async (targets) => void told.push(targets) })
    await read('k', () => 1)
    await cache.revalidate([`/mills/${'a/'.repeat(450_000)}`, `/mills/${'a/'.repeat(450_000)}*`])
    expect(await read('k', () => 2, { seconds: 60 }, '/mills/a')).toBe(1)
    expect(told).toEqual([])
  })

  test('are dropped at once, and told a thousand at a time', async () => {
    const told: number[] = []
    const { cache, read } = cacheWorld({ onRevalidate: async ({ length }) => void told.push(length) })
    await read('k', () => 1, { seconds: 60, tags: ['tag:2999'] })
    const whole = cache.revalidate(Array.from({ length: 3_000 }, (_, at) => `tag:${at}`))
    expect(await read('k', () => 2, { seconds: 60, tags: ['tag:2999'] })).toBe(2)
    await whole
    expect(told).toEqual([1_000, 1_000, 1_000])
  })

  test('count as room of the value that has them', async () => {
    const { cache, read } = cacheWorld()
    await read('k', () => 1, { seconds: 60, tags: Array.from({ length: 1_000 }, (_, at) => `tag:${at}`) })
    expect(cache.stats.bytes).toBeGreaterThan(8_000)
  })

  test('and keys are cut off in messages, which logs keep', async () => {
    const { read } = cacheWorld()
    const key = 'a'.repeat(900_000)
    const short = expect.objectContaining({ message: expect.stringMatching(/^.{200,400}$/) })
    await expect(read(key, () => read(key, () => 1) as never)).rejects.toEqual(short)
    await expect(read(key, () => 1, { seconds: 0 })).rejects.toEqual(short)
    await expect(read(key, () => [Promise.resolve()] as never)).rejects.toEqual(short)
    await expect(limitedRead(JSON.stringify(key), () => Promise.withResolvers<never>().promise, 1)).rejects.toEqual(
      short,
    )
  })
})
