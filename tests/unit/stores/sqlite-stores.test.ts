import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createIdempotencyStore } from '../../../src/server/stores/idempotency-store.ts'
import type { Database } from '../../../src/server/stores/open-database.ts'
import { createRateLimits } from '../../../src/server/stores/rate-limits.ts'
import { openRuntimeDatabase } from '../../../src/server/stores/runtime-database.ts'
import { storedKey } from '../../../src/server/stores/stored-key.ts'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'
import { onceStoreContract } from './idempotency-store-contract.ts'
import { crowdedRateLimitsContract, rateLimitsContract } from './rate-limits-contract.ts'

const NOW = 1_800_000_000_000

let folder: TempDir
let opened: Database[]

beforeEach(async () => {
  folder = await makeTempDir('stores')
  opened = []
})
afterEach(async () => {
  for (const database of opened) database.dispose()
  await folder.remove()
})

function open(): Database {
  const database = openRuntimeDatabase(folder.path)
  opened.push(database)
  return database
}

function count(table: 'once' | 'rate_limits'): unknown {
  return open().statement(`SELECT count(*) AS rows FROM ${table}`).get()?.['rows']
}

describe('a stored key', () => {
  it('takes bounded space, and is never that of another key', () => {
    const long = 'x'.repeat(10_000)
    expect(storedKey(long).length).toBeLessThan(60)
    for (const other of [storedKey(long), storedKey(long).slice(1), `${long}x`]) {
      expect(storedKey(other)).not.toBe(storedKey(long))
    }
  })
})

describe('idempotency keys in SQLite', () => {
  onceStoreContract(() => [createIdempotencyStore(open()), createIdempotencyStore(open())])

  it('are there after the process has come back', async () => {
    const before = open()
    const store = createIdempotencyStore(before)
    await store.begin('a', NOW)
    await store.finish('a', 'x', NOW)
    before.dispose()
    expect(await createIdempotencyStore(open()).begin('a', NOW)).toEqual({ state: 'done', result: 'x' })
  })

  it('are no more than the bound, the newest kept', async () => {
    const store = createIdempotencyStore(open(), { keys: 10, bytes: 1_000, sweepEvery: 1, countEvery: 1 })
    for (let key = 0; key < 50; key += 1) await store.begin(`key ${key}`, NOW + key)
    expect(count('once')).toBe(11)
    expect(await store.begin('key 49', NOW + 50)).toEqual({ state: 'running' })
    expect(await store.begin('key 3', NOW + 50)).toEqual({ state: 'new' })
  })

  it('hold no more bytes of results than the bound, and forget no call that is running for it', async () => {
    const store = createIdempotencyStore(open(), { keys: 10, bytes: 1_000, sweepEvery: 1, countEvery: 1 })
    await store.begin('running', NOW)
    for (const [index, key] of ['a', 'b', 'c'].entries()) {
      await store.begin(key, NOW + index)
      await store.finish(key, 'é'.repeat(200), NOW + index)
    }
    await store.begin('next', NOW + 3)
    const states = await Promise.all(['running', 'a', 'b', 'c'].map((key) => store.begin(key, NOW + 4)))
    expect(states.map(({ state }) => state)).toEqual(['running', 'new', 'done', 'done'])
  })

  it('are counted for their bytes as soon as many were added, and else now and then', async () => {
    const seldom = { keys: 3, bytes: 1_600, sweepEvery: 100, countEvery: 100 }
    const store = createIdempotencyStore(open(), seldom)
    for (const key of ['a', 'b', 'c', 'd', 'e']) await store.begin(key, NOW)
    expect(count('once')).toBe(5)
    await store.finish('a', 'x'.repeat(99), NOW)
    await store.begin('f', NOW)
    expect(count('once')).toBe(6)
    await store.finish('b', 'x', NOW)
    await store.begin('g', NOW)
    expect(count('once')).toBe(4)
  })

  it('are swept once their time is over', async () => {
    const store = createIdempotencyStore(open(), { keys: 10, bytes: 1_000, sweepEvery: 1, countEvery: 1 })
    for (const key of ['a', 'b', 'c']) await store.begin(key, NOW)
    await store.begin('d', NOW + 600_000)
    expect(count('once')).toBe(1)
  })
})

describe('rate limits in SQLite', () => {
  rateLimitsContract(() => [createRateLimits(open()), createRateLimits(open())])

  crowdedRateLimitsContract((keys) => createRateLimits(open(), { keys, sweepEvery: 1 }))

  it('keep no more keys than the bound, those that are furthest from full', async () => {
    const limits = createRateLimits(open(), { keys: 10, sweepEvery: 1 })
    const limit = { points: 1, seconds: 60 }
    for (let key = 0; key < 50; key += 1) await limits.take(`key ${key}`, limit, NOW + key)
    expect(count('rate_limits')).toBe(11)
    expect((await limits.take('key 49', limit, NOW + 50)).allowed).toBe(false)
  })

  it('of one client push out that client’s own, those soonest back to full first, and none of others', async () => {
    const limits = createRateLimits(open(), { keys: 10, sweepEvery: 1 })
    const [honest, greedy] = ['203.0.113.9', '198.51.100.7']
    const [short, long] = [
      { points: 1, seconds: 60 },
      { points: 1, seconds: 3_600 },
    ]
    for (const key of ['a', 'b', 'c']) await limits.take(key, short, NOW, honest)
    for (let key = 0; key < 50; key += 1) await limits.take(`greedy ${key}`, long, NOW + key, greedy)
    await limits.take('of nobody', short, NOW + 50)
    for (const key of ['a', 'b', 'c']) expect((await limits.take(key, short, NOW + 51, honest)).allowed).toBe(false)
    expect((await limits.take('greedy 49', long, NOW + 51, greedy)).allowed).toBe(false)
    expect((await limits.take('greedy 0', long, NOW + 51, greedy)).allowed).toBe(true)
  })

  it('forget keys that have all their points back', async () => {
    const limits = createRateLimits(open(), { keys: 10, sweepEvery: 1 })
    for (const key of ['a', 'b', 'c']) await limits.take(key, { points: 1, seconds: 60 }, NOW)
    await limits.take('d', { points: 1, seconds: 60 }, NOW + 60_000)
    expect(count('rate_limits')).toBe(1)
  })
})
