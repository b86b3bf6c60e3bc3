/** What one client can push out of the data cache and of what instances share, alone and with Redis. */
import { createClient } from '@redis/client'
import request from 'supertest'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { LoaderArgs } from '../../../src/server/api/loader-types.ts'
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
