import { submitForm } from 'millrace/testing'
import { createClient } from '@redis/client'
import { once } from 'node:events'
import { createServer, type Socket, connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import request from 'supertest'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { action } from '../../../src/server/routes/actions/action.ts'
import type { CachedOptions } from '../../../src/server/stores/cache/cached-read.ts'
import type { LoaderArgs } from '../../../src/server/api/loader-types.ts'
import { findProgram } from '../../support/programs.ts'
import { startRedis, type RedisServer } from '../../support/redis-server.ts'
import { moduleOf, page, tinyApp } from '../../support/tiny-app.tsx'

async function redisServer(): Promise<RedisServer> {
  const redis = await startRedis()
  onTestFinished(() => redis[Symbol.asyncDispose]())
  return redis
}

const GONE = 'the shared store cannot be reached'
const PREFIX = 'millrace:2:0:'

/** What instances read from, as a database would be. */
interface Source {
  text: string
  reads: number
}

/** A server of its own, as far as it can be in one process. */
async function instance(url: string, source: Source, options: CachedOptions = { seconds: 600, tags: ['news'] }) {
  const save = action({ handler: ({ revalidate }) => revalidate('news') })
  const read = ({ context }: LoaderArgs) =>
    context.cached('news', options, () => {
      source.reads += 1
      return { text: source.text, at: new Date(5), long: 'x'.repeat(5_000) }
    })
  const { app, logs } = tinyApp({
    routes: {
      '/': { page: page(() => <form id="save" action={save as never} />) },
      '/news/today': {
        page: page(({ data }: { data: { text: string; at: Date } }) => (
          <p id="shown">{`${data.text} ${data.at.getTime()}`}</p>
        )),
        loader: moduleOf({ loader: read }),
      },
      '/drop/[[...targets]]': {
        handler: moduleOf({
          GET: async ({ context, search }: LoaderArgs) => {
            await context.revalidate(String(search['target']))
            return new Response('dropped')
          },
        }),
      },
    },
    environment: { REDIS_URL: url, SECRET_KEYS: 'a-key-for-tests-of-some-length' },
    actions: { 'actions.server.ts': { save } },
  })
  return {
    app,
    logs,
    shown: async () => /<p id="shown">(.*?) 5</.exec((await request(app).get('/news/today').expect(200)).text)?.[1],
    save: async () => {
      const form = await submitForm((await request(app).get('/')).text, '#save', {})
      await request(app).post(form.url).set(form.headers).send(form.body).expect(303)
    },
    drop: (target: string) => request(app).get('/drop').query({ target }).expect(200),
  }
}

type Instance = Awaited<ReturnType<typeof instance>>

/** Two instances that share a Redis and a source, both with the source's text in their memory. */
async function twoInstances(options?: CachedOptions) {
  const redis = await redisServer()
  const source: Source = { text: 'old', reads: 0 }
  const [one, two] = await Promise.all([instance(redis.url, source, options), instance(redis.url, source, options)])
  await connected(redis.url, [one, two])
  return { redis, source, one, two }
}

/** All listen to the shared store, and it has the value. */
async function connected(url: string, instances: readonly Instance[]): Promise<void> {
  const client = await createClient({ url })
    .on('error', () => undefined)
    .connect()
  onTestFinished(() => client.destroy())
  await expect
    .poll(async () => {
      for (const each of instances) await each.shown()
      const listening = (await client.pubSubNumSub(`${PREFIX}:data`))[`${PREFIX}:data`]
      const { length } = await client.keys(`${PREFIX}:data:*`)
      // It was made while Redis was late, or not connected yet.
      if (length === 0) await instances[0]?.drop('news')
      return [listening, length]
    })
    .toEqual([instances.length, 1])
}

describe.skipIf(findProgram('redis-server') === undefined)('instances with one Redis', () => {
  test('make a value once, whoever is asked for it', async () => {
    const { source, one, two } = await twoInstances()
    // One that has just connected shares nothing for a moment.
    await expect
      .poll(async () => {
        await one.drop('news')
        source.reads = 0
        const before = two.app.caches.data?.shared ?? 0
        const shown = [await one.shown(), await two.shown()]
        return { shown, reads: source.reads, shared: (two.app.caches.data?.shared ?? 0) - before }
      })
      .toEqual({ shown: ['old', 'old'], reads: 1, shared: 1 })
  })

  test.for([
    ['an action', (by: Instance) => by.save()],
    ['a handler, by the path', (by: Instance) => by.drop('/news/today')],
    ['a handler, by all paths below', (by: Instance) => by.drop('/news/*')],
  ] as const)('drop what %s of one of them drops, at once', async ([, drop]) => {
    const { source, one, two } = await twoInstances()
    expect([await one.shown(), await two.shown()]).toEqual(['old', 'old'])
    source.text = 'new'
    await drop(one)
    expect(await one.shown()).toBe('new')
    await expect.poll(() => two.shown()).toBe('new')
  })

  test('make what is old anew once, behind what they give out', async () => {
    const { source, one, two } = await twoInstances({ seconds: 60, staleSeconds: 600, tags: ['news'] })
    await one.drop('news')
    await expect
      .poll(async () => {
        await one.shown()
        await two.shown()
        return two.app.caches.data?.shared
      })
      .toBeGreaterThan(0)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 })
    onTestFinished(() => void vi.useRealTimers())
    source.text = 'new'
    source.reads = 0
    expect(await one.shown()).toBe('old')
    await expect.poll(() => one.shown()).toBe('new')
    expect(await two.shown()).toBe('old')
    await expect.poll(() => two.shown()).toBe('new')
    expect(source.reads).toBe(1)
  })
})

test.skipIf(findProgram('redis-server') === undefined)(
  'what a visitor drops is marked, and drops nothing else',
  { timeout: 60_000 },
  async () => {
    const { url } = await redisServer()
    const source: Source = { text: 'one', reads: 0 }
    const [greedy, honest] = [await instance(url, source), await instance(url, source)]
    // What was made before the shared store could be heard counts as gone.
    await expect
      .poll(async () => {
        const { reads } = source
        await honest.shown()
        return source.reads - reads
      })
      .toBe(0)
    const client = createClient({ url })
    await client.connect()
    onTestFinished(() => client.destroy())
    const marks = async (): Promise<number> => client.hLen(`${PREFIX}:{data}:drops`)
    const drops = Array.from({ length: 1_000 }, (_, at) => `visitor:${at}`)
    for (const target of drops) await request(greedy.app).get(`/drop?target=${target}`).expect(200)
    // Each has its own.
    expect(await marks()).toBeGreaterThan(drops.length)
    const before = source.reads
    expect(await honest.shown()).toBe('one')
    expect(source.reads).toBe(before)
    source.text = 'two'
    await greedy.save()
    await expect.poll(() => honest.shown()).toBe('two')
  },
)

describe.skipIf(findProgram('redis-server') === undefined)('an instance whose Redis', () => {
  test('is gone serves on from its memory, makes what is not there, and drops what it drops', async () => {
    const { redis, source, one } = await twoInstances()
    await redis.stop()
    expect(await one.shown()).toBe('old')
    source.text = 'new'
    await one.save()
    expect(await one.shown()).toBe('new')
    expect(one.logs.filter(({ level }) => Number(level) >= 50)).toHaveLength(1)
  })

  test('was gone pays what it owes: no instance shows again what was dropped meanwhile', async () => {
    const { redis, source, one, two } = await twoInstances()
    const proxy = await gate(redis.url)
    const cut = await instance(proxy.url, source)
    await connected(redis.url, [one, two, cut])
    proxy.close()
    await expect.poll(() => cut.logs).toContainEqual(expect.objectContaining({ msg: GONE }))
    source.text = 'new'
    await cut.drop('news')
    expect(await cut.shown()).toBe('new')
    expect(await two.shown()).toBe('old')
    await proxy.reopen()
    await expect.poll(() => two.shown()).toBe('new')
    await expect.poll(() => one.shown()).toBe('new')
    expect(await cut.shown()).toBe('new')
  })

  test('was gone does not show what others have dropped meanwhile', async () => {
    const { redis, source, one, two } = await twoInstances()
    const proxy = await gate(redis.url)
    const cut = await instance(proxy.url, source)
    await connected(redis.url, [one, two, cut])
    expect(await cut.shown()).toBe('old')
    proxy.close()
    await expect.poll(() => cut.logs).toContainEqual(expect.objectContaining({ msg: GONE }))
    source.text = 'new'
    await one.save()
    expect(await one.shown()).toBe('new')
    expect(await cut.shown()).toBe('old') // nobody can have told it
    await proxy.reopen()
    await expect.poll(() => cut.shown()).toBe('new')
  })

  test('hangs waits for it once', async () => {
    const { redis, source, one } = await twoInstances()
    await one.drop('news')
    redis.pause()
    source.text = 'new'
    expect(await one.shown()).toBe('new')
    source.reads = 0
    await one.drop('news')
    expect(await one.shown()).toBe('new')
    redis.resume()
    expect(source.reads).toBe(1)
  })

  test('is full and evicts nothing drops everywhere what it drops, and so does one that refuses what is written', async () => {
    const { redis, source, one, two } = await twoInstances()
    const client = await createClient({ url: redis.url }).connect()
    onTestFinished(() => client.destroy())
    const complaints = ({ logs }: Instance): number =>
      logs.filter(({ msg }) => String(msg).startsWith('the shared store does not take')).length
    await client.configSet({ maxmemory: '1', 'maxmemory-policy': 'noeviction' })
    source.text = 'full'
    await one.save()
    expect(await one.shown()).toBe('full')
    await expect.poll(() => two.shown()).toBe('full')
    expect([complaints(one), complaints(two)]).toEqual([0, 0])
    await client.configSet('maxmemory', '0')
    await one.save()
    await connected(redis.url, [one, two])
    expect(await two.shown()).toBe('full')

    await client.replicaOf('127.0.0.1', 1)
    source.text = 'refused'
    await one.save()
    expect(await one.shown()).toBe('refused')
    await expect.poll(() => two.shown()).toBe('refused')
    // The value in Redis has no mark.
    const late = await instance(redis.url, source)
    await late.app.redis?.tried
    expect(await late.shown()).toBe('refused')
    expect([one, two, late].map(complaints)).toEqual([1, 1, 1])
    await client.sendCommand(['REPLICAOF', 'NO', 'ONE'])
    source.text = 'again'
    await one.save()
    await expect.poll(() => two.shown(), { timeout: 20_000 }).toBe('again')
    await expect.poll(() => late.shown(), { timeout: 20_000 }).toBe('again')
  })

  test('has lost everything goes on as if it were new', async () => {
    const { redis, source, one, two } = await twoInstances()
    const client = await createClient({ url: redis.url }).connect()
    onTestFinished(() => client.destroy())
    await one.drop('news')
    await client.flushAll()
    source.text = 'new'
    await one.save()
    expect(await one.shown()).toBe('new')
    await expect.poll(() => two.shown()).toBe('new')
  })

  test('holds something else under its keys makes the value itself', async () => {
    const { redis, source, one, two } = await twoInstances()
    const client = await createClient({ url: redis.url }).connect()
    onTestFinished(() => client.destroy())
    source.text = 'new'
    await one.drop('news')
    await expect.poll(() => one.shown()).toBe('new')
    const keys = await client.keys(`${PREFIX}:data:*`)
    expect(keys).toHaveLength(1)
    for (const bad of [
      '',
      'no line',
      '{"tags":1}\nj1',
      `{"clock":9e15,"tags":[],"madeAt":${Date.now()},"freshMs":1e9,"staleMs":0}\nj{`,
    ]) {
      await two.app.caches.drop(['news'])
      await client.set(keys[0] ?? '', bad)
      expect(await two.shown()).toBe('new')
    }
  })
})

/** A way to a server that can be cut, and taken again. */
async function gate(url: string) {
  const target = Number(new URL(url).port)
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    const upstream = connect(target, '127.0.0.1')
    for (const [each, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      sockets.add(each)
      each
        .on('error', () => undefined)
        .on('close', () => {
          sockets.delete(each)
          other.destroy()
        })
      each.pipe(other)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const close = (): void => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  onTestFinished(close)
  return {
    url: `redis://127.0.0.1:${port}`,
    close,
    async reopen() {
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
    },
  }
}
