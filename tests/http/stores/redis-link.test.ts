import { readFile } from 'node:fs/promises'
import { connect, createServer, type AddressInfo } from 'node:net'
import { pino } from 'pino'
import { hash } from 'node:crypto'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { openRedis, RedisGone, type RedisLink, type RedisLinkOptions } from '../../../src/server/stores/redis-link.ts'
import { UNHEARD_MS } from '../../../src/server/stores/redis-connection.ts'
import { findProgram } from '../../support/programs.ts'
import { startRedis, type RedisServer } from '../../support/redis-server.ts'

vi.mock('node:crypto', { spy: true })

const silent = pino({ level: 'silent' })

async function redisServer(): Promise<RedisServer> {
  const redis = await startRedis()
  onTestFinished(() => redis[Symbol.asyncDispose]())
  return redis
}

function linkTo(url: string, log = silent, times?: RedisLinkOptions): RedisLink {
  const link = openRedis(url, log, times)
  onTestFinished(() => link.dispose())
  return link
}

test('the handbook says for how long a hanging store may go unnoticed', async () => {
  expect(await readFile('docs/caching.md', 'utf8')).toContain(`hangs is noticed after ${UNHEARD_MS / 1_000} seconds`)
})

// `scripts/test.ts` says in one line when there is no Redis.
describe.skipIf(findProgram('redis-server') === undefined)('the connection to the shared store', () => {
  test('runs commands and scripts', async () => {
    const { url } = await redisServer()
    const link = linkTo(url)
    await link.tried
    expect(await link.run((client) => client.set('a', '1'))).toBe('OK')
    const script = { lua: "return redis.call('INCRBY', KEYS[1], ARGV[1])", keys: ['a'], arguments: ['4'] }
    expect([await link.script(script), await link.script(script)]).toEqual([5, 9])
    await link.run((client) => client.scriptFlush())
    expect(await link.script(script)).toBe(13)
  })

  test('hashes the text of a script once, however often it runs', async () => {
    const { url } = await redisServer()
    const link = linkTo(url)
    await link.tried
    const lua = 'return ARGV[1]'
    for (let run = 0; run < 3; run += 1) await link.script({ lua, keys: [], arguments: [String(run)] })
    expect(vi.mocked(hash).mock.calls.filter(([, text]) => text === lua)).toHaveLength(1)
  })

  test('is not waited for where there is none', async () => {
    const link = linkTo('redis://127.0.0.1:1')
    await link.tried
    await expect(link.run((client) => client.get('a'))).rejects.toThrow(RedisGone)
    expect(link.connected).toBe(false)
  })

  test('is told to be gone while the server is away, and comes back by itself, scripts and channels included', async () => {
    const redis = await redisServer()
    const link = linkTo(redis.url)
    await link.tried
    const heard: string[] = []
    link.subscribe('news', (message) => heard.push(message))
    const script = { lua: "return redis.call('INCR', KEYS[1])", keys: ['a'], arguments: [] }
    expect(await link.script(script)).toBe(1)
    await redis.stop()
    await expect.poll(() => link.connected).toBe(false)
    await expect(link.script(script)).rejects.toThrow(RedisGone)
    const back = Promise.withResolvers<void>()
    link.onConnect(() => back.resolve())
    await redis.start()
    await back.promise
    expect(await link.script(script)).toBe(1)
    await expect
      .poll(async () => {
        await link.run((client) => client.publish('news', 'again'))
        return heard
      })
      .toContain('again')
  })

  test('that knows no password of ours is told of once, without the password', async () => {
    const redis = await redisServer()
    const owner = linkTo(redis.url)
    await owner.tried
    await owner.run((client) => client.configSet('requirepass', 'right'))
    const lines: string[] = []
    const log = pino({}, { write: (line: string) => void lines.push(line) })
    const link = linkTo(redis.url.replace('//', '//:secret-canary@'), log)
    await link.tried
    await expect(link.run((client) => client.get('a'))).rejects.toThrow(RedisGone)
    const right = linkTo(redis.url.replace('//', '//:right@'))
    await right.tried
    expect(await right.run((client) => client.get('a'))).toBe(null)
    // Time enough for it to have tried again.
    expect(lines).toHaveLength(1)
    expect(lines.join()).toContain('WRONGPASS')
    expect(lines.join()).not.toContain('secret-canary')
  })

  test('that hangs is given up by the first who waits, and used again when it goes on', async () => {
    const redis = await redisServer()
    const lines: string[] = []
    const log = pino({}, { write: (line: string) => void lines.push((JSON.parse(line) as { msg: string }).msg) })
    const link = linkTo(redis.url, log)
    await link.tried
    redis.pause()
    await expect(link.run((client) => client.get('a'))).rejects.toThrow('too slow')
    expect(link.connected).toBe(false)
    await expect(link.run((client) => client.get('a'))).rejects.toThrow('cannot be reached')
    redis.resume()
    await expect.poll(() => link.run((client) => client.get('a')).catch(() => 'gone')).toBe(null)
    expect(lines).toEqual(['the shared store cannot be reached', 'the shared store is there again'])
  })

  test('that has answered while this process was busy is neither too slow nor gone', async () => {
    const redis = await redisServer()
    const link = linkTo(redis.url)
    await link.tried
    const answers = Array.from({ length: 3 }, () => link.run((client) => client.get('a')))
    const until = performance.now() + 700
    while (performance.now() < until);
    expect(await Promise.all(answers)).toEqual([null, null, null])
    expect(link.connected).toBe(true)
  })

  test('that only answers late has lost no messages, and says so', async () => {
    const redis = await redisServer()
    const link = linkTo(redis.url)
    const heard: string[] = []
    link.subscribe('news', (message) => heard.push(message))
    await expect.poll(() => link.isHearing('news')).toBe(true)
    const told: boolean[] = []
    redis.pause()
    await expect(link.run((client) => client.publish('news', 'late'))).rejects.toThrow('too slow')
    link.onConnect((mayHaveMissed) => told.push(mayHaveMissed))
    redis.resume()
    await expect.poll(() => [told, heard]).toEqual([[false], ['late']])
  })

  test('that hangs tells nothing any more, as one unanswered ping says, long before it is left', async () => {
    const redis = await redisServer()
    const link = linkTo(redis.url, silent, { pingEveryMs: 1_000 })
    link.subscribe('news', () => undefined)
    await expect.poll(() => link.isHearing('news')).toBe(true)
    redis.pause()
    await expect.poll(() => link.isHearing('news'), { timeout: 10_000 }).toBe(false)
    // Its two unanswered pings have not been sent yet.
    expect(link.connected).toBe(true)
    redis.resume()
    await expect.poll(() => link.isHearing('news'), { timeout: 10_000 }).toBe(true)
  })

  test('that leads to a replica is left, because another server may be the primary now', async () => {
    const [former, next] = [await redisServer(), await redisServer()]
    let { url } = former
    const proxy = createServer((socket) => {
      const { hostname, port } = new URL(url)
      const server = connect(Number(port), hostname)
      for (const side of [socket, server]) side.on('error', () => undefined)
      socket.pipe(server).pipe(socket)
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void proxy.close())
    const link = linkTo(`redis://127.0.0.1:${(proxy.address() as AddressInfo).port}`)
    await link.tried
    const script = { lua: "return redis.call('INCR', KEYS[1])", keys: ['a'], arguments: [] }
    expect(await link.script(script)).toBe(1)
    const { hostname, port } = new URL(next.url)
    await link.run((client) => client.sendCommand(['REPLICAOF', hostname, port]))
    ;({ url } = next)
    await expect(link.script(script)).rejects.toThrow('READONLY')
    await expect.poll(() => link.script(script).catch(String)).toBe(1)
  })

  test('that hangs for long is left, and made anew with its channels', async () => {
    const redis = await redisServer()
    const link = linkTo(redis.url, silent, { pingEveryMs: 50 })
    await link.tried
    const heard: string[] = []
    link.subscribe('news', (message) => heard.push(message))
    await expect.poll(() => link.run((client) => client.publish('news', 'first'))).toBe(1)
    redis.pause()
    await expect.poll(() => link.connected).toBe(false)
    const back = Promise.withResolvers<void>()
    link.onConnect(() => back.resolve())
    redis.resume()
    await back.promise
    await expect
      .poll(async () => {
        await link.run((client) => client.publish('news', 'second')).catch(() => 0)
        return heard
      })
      .toContain('second')
  })
})
