/** A Redis that is full, evicts nothing, and has more keys than one attempt to make room looks at. */
import { once } from 'node:events'
import { connect as connectTo, createServer, type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openRedis, type RedisLink } from '../../../src/server/stores/redis-link.ts'
import { createRedisStore } from '../../../src/server/stores/redis-store.ts'
import { findProgram } from '../../support/programs.ts'
import { startRedis } from '../../support/redis-server.ts'
import { entryOf, ROOMY } from '../../unit/stores/store-contract.ts'

const NOW = 1_800_000_000_000
const PATIENCE = { timeout: 20_000 }

/** Nothing that an attempt finds is a value: those lie behind. */
const FILL = `
for from = 0, 61000, 1000 do
  local given = {}
  for at = from + 1, from + 1000 do
    given[#given + 1] = 'other:' .. at
    given[#given + 1] = ''
  end
  redis.call('MSET', unpack(given))
end
local value = string.rep('x', 1000)
for at = 1, 2000 do redis.call('SET', ARGV[1] .. ':data:build:' .. at, value, 'EX', 600) end
local cursor = '0'
for page = 1, 50 do
  local found = redis.call('SCAN', cursor, 'MATCH', ARGV[1] .. ':data:*', 'COUNT', 1000)
  for _, key in ipairs(found[2]) do redis.call('DEL', key) end
  cursor = found[1]
end
return #redis.call('KEYS', ARGV[1] .. ':data:*')`

async function fullRedis(): Promise<string> {
  const redis = await startRedis()
  onTestFinished(() => redis[Symbol.asyncDispose]())
  const { link } = await linkTo(redis.url)
  const left = await link.script({ lua: FILL, keys: [], arguments: [link.prefix] }, 20_000)
  expect(left).toBeGreaterThan(300)
  const used = /used_memory:(\d+)/.exec(await link.run((client) => client.info('memory')))?.[1]
  const maxmemory = String(Number(used) - 100_000)
  await link.run((client) => client.configSet({ maxmemory, 'maxmemory-policy': 'noeviction' }))
  return redis.url
}

async function linkTo(url: string): Promise<{ link: RedisLink; lines: readonly string[] }> {
  const lines: string[] = []
  const link = openRedis(url, pino({}, { write: (line: string) => void lines.push(line) }))
  onTestFinished(() => link.dispose())
  await link.tried
  return { link, lines }
}

/** A way to a server, whose answers to SCAN take long. */
async function slowScans(url: string, ms: number): Promise<string> {
  const server = createServer((socket) => {
    const upstream = connectTo(Number(new URL(url).port), '127.0.0.1')
    const state = { delay: 0, sent: Promise.resolve() }
    socket.on('data', (asked) => {
      if (asked.includes('SCAN')) state.delay = ms
      upstream.write(asked)
    })
    upstream.on('data', (answer) => {
      const { delay, sent } = state
      state.delay = 0
      state.sent = sent.then(() => sleep(delay)).then(() => void socket.write(answer))
    })
    for (const [each, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const)
      each.on('error', () => undefined).on('close', () => other.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `redis://127.0.0.1:${(server.address() as AddressInfo).port}`
}

// `scripts/test.ts` says in one line when there is no Redis.
describe.skipIf(findProgram('redis-server') === undefined)('a Redis that is full and evicts nothing', () => {
  test('has room soon, however many keys hide the values that can go', async () => {
    const { link, lines } = await linkTo(await fullRedis())
    const store = createRedisStore(link, ROOMY)
    await expect.poll(async () => (await store.put(entryOf('a'), NOW)).kept, PATIENCE).toBeDefined()
    expect(lines).toEqual([])
  })

  test.for([
    ['all together', 30],
    ['each', 700],
  ] as const)('is used on while the commands that make room are late, %s', async ([, ms]) => {
    const { link, lines } = await linkTo(await slowScans(await fullRedis(), ms))
    await expect(createRedisStore(link, ROOMY).put(entryOf('a'), NOW)).rejects.toThrow('OOM')
    expect([link.connected, lines]).toEqual([true, []])
    expect(await link.run((client) => client.get('other:1'))).toBe('')
  })
})
