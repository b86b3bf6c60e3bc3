/** What one client can push out of the data cache and of what instances share, alone and with Redis. */
import { createClient } from '@redis/client'
import { pino } from 'pino'
import request from 'supertest'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { LoaderArgs } from '../../../src/server/api/loader-types.ts'
import { createSharedValues } from '../../../src/server/stores/cache/shared-values.ts'
import { textToValue, valueToText } from '../../../src/server/stores/cache/value-text.ts'
import { openRedis } from '../../../src/server/stores/redis-link.ts'
import { findProgram } from '../../support/programs.ts'
import { startRedis } from '../../support/redis-server.ts'
import { moduleOf, page, tinyApp } from '../../support/tiny-app.tsx'

const GREEDY = '198.51.100.7'
const HONEST = '203.0.113.9'
const LARGE_BYTES = 3_000_000 // eleven of them fill the cache

async function site(redisUrl: string) {
  const made: string[] = []
  const { app } = tinyApp({
    routes: {
      '/': { page: page(() => 'home') },
      '/value/[key]': {
        page: page(({ data }: { data: number }) => <p>{data}</p>),
        loader: moduleOf({
          loader: async ({ params, context }: LoaderArgs) => {
            const key = String((params as { key: string }).key)
            const text = await context.cached(key, { seconds: 600 }, () => {
              made.push(key)
              return 'x'.repeat(LARGE_BYTES)
            })
            return text.length
          },
        }),
      },
    },
    environment: {
      REDIS_URL: redisUrl,
      SECRET_KEYS: 'a-key-for-tests-of-some-length',
      TRUST_PROXY: '127.0.0.0/8,::1,::ffff:127.0.0.1',
    },
  })
  await app.redis?.tried
  return {
    made,
    app,
    visit: (key: string, client: string) =>
      request(app).get(`/_m/data/value/${key}`).set('X-Forwarded-For', client).expect(200),
  }
}

async function redisUrl(): Promise<string> {
  const redis = await startRedis()
  onTestFinished(() => redis[Symbol.asyncDispose]())
  return redis.url
}

/** Keys of values in Redis. */
async function sharedKeys(url: string): Promise<readonly string[]> {
  const client = createClient({ url })
  await client.connect()
  try {
    return (await client.keys('millrace:2:0::data:*')).filter((key) => !key.includes('{data}'))
  } finally {
    client.destroy()
  }
}

describe.each([
  ['alone', false],
  ['with Redis', true],
] as const)('one client that fills the data cache, %s', (_, shared) => {
  test.skipIf(shared && findProgram('redis-server') === undefined)('pushes out nothing of the others', async () => {
    const url = shared ? await redisUrl() : ''
    const { made, visit, app } = await site(url)
    // What was made before the shared store could be heard counts as gone.
    await expect.poll(() => visit('honest', HONEST).then(() => app.caches.data?.hits), { timeout: 10_000 }).toBe(1)
    const before = made.length
    for (let at = 0; at < 40; at += 1) await visit(`greedy-${at}`, GREEDY)
    expect(app.caches.data).toMatchObject({ made: before + 40, entries: 11 })
    // Its own shared copies would hide what has become of the value in this process.
    await visit('honest', HONEST)
    expect(app.caches.data).toMatchObject({ hits: 2, made: before + 40, shared: 0 })
    // What it has too much of is gone for all instances.
    if (shared) await expect.poll(async () => (await sharedKeys(url)).length, { timeout: 10_000 }).toBe(11)
  })
})

/** On the clock of the shared store, after all that is dropped in these tests. */
const LATER = Date.now() * 2_000

/** Several instances, as far as their values are concerned. */
async function instances() {
  const link = openRedis(await redisUrl(), pino({ level: 'silent' }))
  onTestFinished(() => link.dispose())
  await link.tried
  const instance = () =>
    createSharedValues({
      link,
      buildId: 'build',
      log: pino({ level: 'silent' }),
      now: Date.now,
      onTargets: () => undefined,
      onMissed: () => undefined,
    })
  return { link, instance }
}

const valueOf = (text: string, at = Date.now()) => ({
  text: valueToText('key', text),
  tags: [],
  madeAt: at,
  freshMs: 60_000,
  staleMs: 0,
  ofStale: false,
})

describe.skipIf(findProgram('redis-server') === undefined)('values on their way to Redis', () => {
  test('are bounded for each client: what is too much is not shared, and others’ values are', async () => {
    const one = (await instances()).instance()
    const isThere = async (name: string): Promise<boolean> => (await one.find(name, [], '/'))?.value !== undefined
    await expect.poll(() => one.find('nothing', [], '/')).toBeDefined()
    const greedy = Array.from({ length: 40 }, (_, at) => `greedy ${at}`)
    for (const name of greedy) one.put(name, valueOf('x'.repeat(1_000_000)), LATER, GREEDY)
    one.put('honest', valueOf('honest'), LATER, HONEST)
    await expect.poll(() => isThere('honest')).toBe(true)
    await expect.poll(() => isThere('greedy 15')).toBe(true)
    one.put('last', valueOf('last'), LATER, GREEDY)
    await expect.poll(() => isThere('last')).toBe(true)
    expect((await Promise.all(greedy.map(isThere))).filter(Boolean)).toHaveLength(16)
  })

  test('do not arrive after they were removed', async () => {
    const one = (await instances()).instance()
    await expect.poll(() => one.find('nothing', [], '/')).toBeDefined()
    const value = valueOf('x'.repeat(1_000_000))
    one.put('crowded out', value, LATER, GREEDY)
    one.removeOwn('crowded out', value)
    one.put('failed', value, LATER, GREEDY)
    one.remove('failed')
    one.put('kept', value, LATER, HONEST)
    await expect.poll(async () => (await one.find('kept', [], '/'))?.value).toBeDefined()
    one.put('last', valueOf('x'.repeat(2_000_000)), LATER, HONEST)
    await expect.poll(async () => (await one.find('last', [], '/'))?.value).toBeDefined()
    for (const name of ['crowded out', 'failed']) expect((await one.find(name, [], '/'))?.value).toBeUndefined()
  })
})

describe.skipIf(findProgram('redis-server') === undefined)('what others have put into Redis', () => {
  test('stays there when a client reads it on another instance, and pushes it out with values of its own', async () => {
    const url = await redisUrl()
    const [one, other] = [await site(url), await site(url)]
    const isShared = async (key: string): Promise<boolean> =>
      (await sharedKeys(url)).some((each) => each.endsWith(`"${key}"`))
    const hits = ({ app }: typeof one): number => app.caches.data?.hits ?? 0
    await one.visit('honest', HONEST)
    await expect.poll(() => one.visit('honest', HONEST).then(() => isShared('honest')), { timeout: 10_000 }).toBe(true)
    // What was read before the shared store could be heard counts as gone.
    await expect.poll(() => other.visit('honest', GREEDY).then(() => hits(other)), { timeout: 10_000 }).toBe(1)
    expect(other.made).toEqual([])
    for (let at = 0; at < 40; at += 1) await other.visit(`greedy-${at}`, GREEDY)
    await expect.poll(() => isShared('greedy-0'), { timeout: 10_000 }).toBe(false)
    expect(await isShared('honest')).toBe(true)
  })

  test('stays there when the instance that has put an older one removes its own', async () => {
    const { link, instance } = await instances()
    const [one, other] = [instance(), instance()]
    const madeAt = Date.now()
    const found = async (): Promise<unknown> => {
      const text = (await one.find('key', [], '/'))?.value?.text
      return text === undefined ? undefined : textToValue(text)
    }
    one.put('key', valueOf('old', madeAt), LATER, HONEST)
    await expect.poll(found).toBe('old')
    other.put('key', valueOf('new', madeAt + 1), LATER, HONEST)
    await expect.poll(found).toBe('new')
    one.removeOwn('key', { madeAt })
    one.removeOwn('key', { madeAt: madeAt + 1 })
    await link.script({ lua: 'return 1', keys: [], arguments: [] })
    expect(await found()).toBe('new')
    other.removeOwn('key', { madeAt: madeAt + 1 })
    await expect.poll(found).toBeUndefined()
  })
})
