import { array, assert, asyncProperty, constant, constantFrom, integer, oneof, record, subarray } from 'fast-check'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { createDataCache, type DataCacheOptions } from '../../../src/server/stores/cache/data-cache.ts'
import type { CachedOptions, CacheKey, CachedRead } from '../../../src/server/stores/cache/cached-read.ts'
import { DropTimes } from '../../../src/server/stores/cache/drop-times.ts'
import { sessionTopic } from '../../../src/server/secrets/session-life.ts'
import { notFound } from '../../../src/shared/control-flow.ts'

const MINUTE: CachedOptions = { seconds: 60, staleSeconds: 600 }

function cacheWorld(options: Partial<DataCacheOptions> = {}) {
  const world = { now: 1_000_000, failed: [] as unknown[] }
  const cache = createDataCache({
    buildId: 'test',
    redis: undefined,
    log: pino({ level: 'silent' }),
    now: () => world.now,
    ...options,
  })
  const read = <Value>(
    key: CacheKey,
    read: CachedRead<Value>,
    given: CachedOptions = MINUTE,
    pathname = '/',
    used: string[] = [],
  ): Promise<Value> =>
    cache.read(
      { key, options: given, read },
      { pathname, of: cache, used: (tags) => used.push(...tags), failed: (thrown) => world.failed.push(thrown) },
    )
  /** A value that is made by hand. */
  const source = <Value>() => {
    const calls: PromiseWithResolvers<Value>[] = []
    const made: CachedRead<Value> = () => {
      const call = Promise.withResolvers<Value>()
      calls.push(call)
      return call.promise
    }
    return { made, calls }
  }
  return { world, cache, read, source }
}

describe('a value', () => {
  test('is made once for all who ask, and not again while it is fresh', async () => {
    const { read, source, world, cache } = cacheWorld()
    const { made, calls } = source<number>()
    const asked = Array.from({ length: 1_000 }, () => read('k', made))
    calls[0]?.resolve(7)
    expect(new Set(await Promise.all(asked))).toEqual(new Set([7]))
    world.now += 60_000
    expect(await read('k', made)).toBe(7)
    expect(calls).toHaveLength(1)
    expect(cache.stats).toMatchObject({ hits: 1, misses: 1_000, made: 1, entries: 1 })
  })

  test('is made again where the clock was set back behind its making', async () => {
    const { read, world } = cacheWorld()
    expect(await read('k', () => 1)).toBe(1)
    world.now -= 3_000
    expect(await read('k', () => 2)).toBe(1)
    world.now -= 3_600_000
    expect(await read('k', () => 3)).toBe(3)
  })

  test('is everybody’s own: who changes it changes nothing for others', async () => {
    const { read } = cacheWorld()
    const original = { list: [1], at: new Date(5), ids: new Map([['a', { n: 1 }]]) }
    const first = await read('k', () => original)
    expect(first).toEqual(original)
    first.list.push(2)
    first.ids.clear()
    original.at.setTime(9)
    expect(await read('k', () => original)).toEqual({ list: [1], at: new Date(5), ids: new Map([['a', { n: 1 }]]) })
  })

  test('of one key is never given for another', async () => {
    const { read, cache } = cacheWorld()
    const ask = (key: never, value: number) =>
      cache.read(
        { key, options: MINUTE, read: () => value },
        { pathname: '/', of: {}, used: () => {}, failed: () => {} },
      )
    const keys = [
      'a',
      '["a"]',
      ['a'],
      ['a', 1],
      ['a', '1'],
      ['a', null],
      ['a', 'null'],
      ['a,1'],
      ['a', ''],
      ['a', '', ''],
    ]
    for (const [index, key] of keys.entries()) expect(await ask(key as never, index)).toBe(index)
    expect(await read('a', () => -1)).toBe(0)
  })

  test.for([undefined, null, 0, '', false, Number.NaN])('may be %s', async (value) => {
    const { read, cache } = cacheWorld()
    await read('k', () => value)
    expect(await read('k', () => 'another')).toBe(value)
    expect(cache.stats.made).toBe(1)
  })

  test('that is old is given at once while a new one is made, by one', async () => {
    const { read, source, world } = cacheWorld()
    await read('k', () => 'old')
    world.now += 60_001
    const { made, calls } = source<string>()
    expect(await Promise.all([read('k', made), read('k', made), read('k', made)])).toEqual(['old', 'old', 'old'])
    expect(calls).toHaveLength(1)
    calls[0]?.resolve('new')
    await expect.poll(() => read('k', made)).toBe('new')
    expect(calls).toHaveLength(1)
  })

  test('that is old does not live on in those that are made of it', async () => {
    const { read, world } = cacheWorld()
    let level = 1
    const gauge = (): Promise<number> => read('gauge', () => level)
    const report = (): Promise<string> => read('report', async () => `level ${await gauge()}`, { seconds: 60 })
    const cover = (): Promise<string> => read('cover', async () => `cover of ${await report()}`, { seconds: 60 })
    await gauge()
    level = 2
    world.now += 60_001
    expect(await report()).toBe('level 1')
    // Made of one that is fresh, but made of an old one.
    expect(await cover()).toBe('cover of level 1')
    expect(await gauge()).toBe(2)
    world.now += 1_001
    expect(await cover()).toBe('cover of level 2')
    level = 3
    world.now += 59_000
    expect(await cover()).toBe('cover of level 2')
  })

  test('that is too old is waited for', async () => {
    const { read, world } = cacheWorld()
    await read('k', () => 'old')
    world.now += 660_001
    expect(await read('k', () => 'new')).toBe('new')
  })

  test('that is larger than what is kept is given out, and made again each time', async () => {
    const { read, cache } = cacheWorld()
    const large = 'x'.repeat(4_194_305)
    expect(await read('k', () => large)).toHaveLength(large.length)
    await read('k', () => large)
    expect(cache.stats).toMatchObject({ made: 2, entries: 0, bytes: 0 })
  })
})

describe('what fails', () => {
  test('is never kept', async () => {
    const { read, cache } = cacheWorld()
    await expect(read('k', () => Promise.reject(new Error('down')))).rejects.toThrow('down')
    expect(await read('k', () => 'up')).toBe('up')
    expect(cache.stats).toMatchObject({ failed: 1, made: 1 })
  })

  test('behind a stale value costs no visitor anything, and is tried again after a while', async () => {
    const { read, world, cache } = cacheWorld()
    await read('k', () => 'old')
    world.now += 60_001
    const down: CachedRead<string> = () => Promise.reject(new Error('down'))
    expect(await read('k', down)).toBe('old')
    await expect.poll(() => world.failed).toEqual([new Error('down')])
    expect(await read('k', down)).toBe('old')
    expect(cache.stats.failed).toBe(1)
    world.now += 5_000
    expect(await read('k', () => 'new')).toBe('old')
    await expect.poll(() => read('k', down)).toBe('new')
  })

  test('behind a stale value fails, and drops nothing, where the error of its source has the digest of a refusal', async () => {
    const { read, world } = cacheWorld()
    await read('k', () => 'old')
    world.now += 60_001
    const forged = Object.assign(new Error('down'), { digest: 'millrace:notFound' })
    expect(await read<string>('k', () => Promise.reject(forged))).toBe('old')
    await expect.poll(() => world.failed).toEqual([forged])
    expect(await read('k', () => 'new')).toBe('old')
  })

  test('after the stale time is told', async () => {
    const { read, world } = cacheWorld()
    await read('k', () => 'old')
    world.now += 660_001
    await expect(read('k', () => Promise.reject(new Error('down')))).rejects.toThrow('down')
  })

  test('to be there any more is told to the next who asks', async () => {
    const { read, world } = cacheWorld()
    await read('k', () => 'old')
    world.now += 60_001
    expect(await read<string>('k', () => notFound())).toBe('old')
    await expect.poll(() => read<string>('k', () => 'made anew')).toBe('made anew')
    expect(world.failed).toEqual([])
  })

  test('by the signal of another visitor who has left is tried once more for those who are still here', async () => {
    const { read, source } = cacheWorld()
    const { made, calls } = source<string>()
    const left = read('k', made)
    const here = [read('k', () => 'mine'), read('k', () => 'mine')]
    calls[0]?.reject(new DOMException('left', 'AbortError'))
    await expect(left).rejects.toThrow('left')
    expect(await Promise.all(here)).toEqual(['mine', 'mine'])
  })
})

describe('a revalidated tag', () => {
  test('is made anew, and nothing else is', async () => {
    const { read, cache } = cacheWorld()
    await read('a', () => 1, { ...MINUTE, tags: ['mills', 'mill:1'] })
    await read('b', () => 2, { ...MINUTE, tags: ['mill:2'] })
    await cache.revalidate(['mill:1'])
    expect([await read('a', () => 10), await read('b', () => 20)]).toEqual([10, 2])
  })

  test('is not given out stale, even where its source is down', async () => {
    const { read, cache } = cacheWorld()
    await read('a', () => 1, { ...MINUTE, tags: ['mills'] })
    await cache.revalidate(['mills'])
    await expect(read('a', () => Promise.reject(new Error('down')))).rejects.toThrow('down')
  })

  test('while its value is being made: who asks after that waits for one that is newer, and that one is kept', async () => {
    const { read, cache, source } = cacheWorld()
    const { made, calls } = source<string>()
    const options = { ...MINUTE, tags: ['mills'] }
    const before = read('k', made, options)
    await cache.revalidate(['mills'])
    const after = read('k', made, options)
    expect(calls).toHaveLength(2)
    calls[1]?.resolve('after')
    expect(await after).toBe('after')
    calls[0]?.resolve('before')
    expect(await before).toBe('before')
    expect(await read('k', made, options)).toBe('after')
  })

  test('drops values that were made of the value', async () => {
    const { read, cache } = cacheWorld()
    let level = 1
    const gauge = () => read('gauge', () => level, { ...MINUTE, tags: ['gauge'] })
    const report = () => read('report', async () => `level ${await gauge()}`)
    const used: string[] = []
    await read('cover', async () => `cover of ${await report()}`, MINUTE, '/', used)
    expect(used).toEqual(['gauge'])
    level = 2
    await cache.revalidate(['gauge'])
    expect(await read('cover', async () => `cover of ${await report()}`)).toBe('cover of level 2')
  })
})

describe('a revalidated path', () => {
  test('makes its pages’ values anew; other pages may go on with what they have', async () => {
    const { read, cache } = cacheWorld()
    await read('k', () => 'old', MINUTE, '/mills/1')
    await cache.revalidate(['/mills/*'])
    expect(await read('k', () => 'new', MINUTE, '/docs')).toBe('old')
    expect(await read('k', () => 'new', MINUTE, '/mills/2')).toBe('new')
    expect(await read('k', () => 'newer', MINUTE, '/docs')).toBe('new')
  })
})

test('a value that was begun before another and takes longer does not take its place', async () => {
  const { read, cache, source } = cacheWorld()
  const { made, calls } = source<string>()
  const slow = read('k', made, MINUTE, '/docs')
  await cache.revalidate(['/mills/*'])
  const fast = read('k', made, MINUTE, '/mills/1')
  calls[1]?.resolve('newer')
  expect(await fast).toBe('newer')
  calls[0]?.resolve('older')
  expect(await slow).toBe('older')
  expect(await read('k', made, MINUTE, '/docs')).toBe('newer')
})

test('values, tags and revalidations in any order give what a list would give', async () => {
  const key = constantFrom('a', 'b', 'c', 'd')
  const tags = subarray(['x', 'y', 'z'])
  const steps = array(
    oneof(
      record({ kind: constant('read' as const), key, tags }),
      record({ kind: constant('revalidate' as const), tags }),
      record({ kind: constant('wait' as const), seconds: integer({ min: 1, max: 70 }) }),
    ),
    { maxLength: 40 },
  )
  await assert(
    asyncProperty(steps, async (all) => {
      const { read, cache, world } = cacheWorld({ bounds: { entries: 3, bytes: 1_000_000 } })
      let list: { key: string; tags: string[]; value: number; at: number }[] = []
      let counter = 0
      for (const step of all) {
        if (step.kind === 'wait') world.now += step.seconds * 1_000
        if (step.kind === 'revalidate') {
          await cache.revalidate(step.tags)
          list = list.map((slot) => (slot.tags.some((tag) => step.tags.includes(tag)) ? { ...slot, at: -1e9 } : slot))
        }
        if (step.kind !== 'read') continue
        counter += 1
        const value = counter
        const got = await read(step.key, () => value, { seconds: 60, tags: step.tags })
        const known = list.find((slot) => slot.key === step.key)
        const isGood = known !== undefined && world.now - known.at <= 60_000
        list = list.filter((slot) => slot !== known)
        list.push(isGood ? known : { key: step.key, tags: step.tags, value, at: world.now })
        list = list.slice(-3)
        expect(got).toBe(isGood ? known.value : value)
        expect(cache.stats.entries).toBe(list.length)
      }
    }),
  )
})

describe('is refused:', () => {
  test.for([
    [{ seconds: 0 }, 'seconds: 0 is not a number above 0'],
    [{ seconds: Number.NaN }, 'seconds: NaN'],
    [{ seconds: Infinity }, 'seconds: Infinity'],
    [{ seconds: 1, staleSeconds: -1 }, 'staleSeconds: -1'],
    [{ seconds: 1, tags: ['a', '/mills'] }, 'the tag "/mills" begins with a slash'],
  ] as const)('%o', async ([options, message]) => {
    const { read } = cacheWorld()
    await expect(read('k', () => 1, options)).rejects.toThrow(RangeError)
    await expect(read('k', () => 1, options)).rejects.toThrow(`cached("k"): ${message}`)
  })

  test('a value with a promise, or with what would come back as something else', async () => {
    class Price {
      readonly cents = 5
    }
    const { read } = cacheWorld()
    await expect(read('k', () => ({ late: [Promise.resolve(1)] }))).rejects.toThrow('holds a promise; await it')
    await expect(read('k', () => ({ price: new Price() }))).rejects.toThrow('holds .price: an instance of Price')
    await expect(read('k', () => [() => 1])).rejects.toThrow('[0]: a function')
  })

  test('a value that needs itself', async () => {
    const { read } = cacheWorld()
    const outer = (): Promise<number> => read('outer', () => read('inner', outer))
    await expect(outer()).rejects.toThrow('cached("outer") was called inside of itself')
  })
})

describe('a key', () => {
  const parts = [
    null,
    'null',
    Infinity,
    'Infinity',
    -Infinity,
    NaN,
    'NaN',
    0,
    -0,
    '0',
    1,
    1n,
    undefined,
    true,
    'true',
    '',
  ]

  test('names one value only, whatever a visitor makes of its parts', async () => {
    const { read } = cacheWorld()
    for (const [at, part] of parts.entries()) await read(['n', part as null], () => at)
    const found = await Promise.all(parts.map((part) => read(['n', part as null], () => 'made again')))
    expect(found).toEqual(parts.map((_, at) => at))
    expect(await read(['n', null, null], () => 'longer')).toBe('longer')
  })

  test.each([{}, [], new Date(0), Symbol('a'), () => 1])(
    'with %s in it is refused, because others would name the same',
    async (part) => {
      const { read } = cacheWorld()
      await expect(read(['n', part as never], () => 1)).rejects.toThrow(/^cached: part 2 of the key is of type/)
    },
  )
})

test('what processes tell each other of sessions is heard, and pushes no drop of data out', async () => {
  const drops = new DropTimes(() => 1_000)
  const { cache } = cacheWorld({ drops })
  const heard: unknown[] = []
  cache.onDrop((targets) => void heard.push(targets))
  await cache.revalidate(['news'])
  const dropped = drops.of('other')
  for (let user = 0; user < 11_000; user += 1) await cache.revalidate([sessionTopic(`user ${user}`)])
  expect(drops.of('other')).toBe(dropped)
  expect(cache.revalidations.now).toBe(1)
  expect([heard.length, heard.at(-1)]).toEqual([11_001, [sessionTopic('user 10999')]])
})
