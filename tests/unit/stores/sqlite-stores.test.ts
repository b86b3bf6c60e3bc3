import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CALLS, createIdempotencyStore, type IdempotencyStore } from '../../../src/server/stores/idempotency-store.ts'
import type { Database } from '../../../src/server/stores/open-database.ts'
import { createRateLimits, LIMITS, type RateLimits } from '../../../src/server/stores/rate-limits.ts'
import { createSqliteStore } from '../../../src/server/stores/sqlite-store.ts'
import { openRuntimeDatabase } from '../../../src/server/stores/store-databases.ts'
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

const callsIn = (database: Database): IdempotencyStore => createIdempotencyStore(createSqliteStore(database, CALLS))
const limits = (): RateLimits => createRateLimits(createSqliteStore(open(), LIMITS))

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
  onceStoreContract(() => [callsIn(open()), callsIn(open())])

  it('are there after the process has come back', async () => {
    const before = open()
    const store = callsIn(before)
    await store.begin('a', NOW)
    await store.finish('a', 'x', NOW)
    before.dispose()
    expect(await callsIn(open()).begin('a', NOW)).toEqual({ state: 'done', result: 'x' })
  })

  it('have no result where the disk has no room for it, and then it is not known what came of the call', async () => {
    const store = createIdempotencyStore(createSqliteStore(open(), CALLS), { write: () => undefined })
    await store.begin('a', NOW)
    await store.finish('a', 'x', NOW)
    await store.finish('the same with a cookie', 'x', NOW)
    for (const key of ['a', 'the same with a cookie']) expect(await store.begin(key, NOW)).toEqual({ state: 'lost' })
  })

  it('get no more while the disk has no room: whoever has most loses the oldest', async () => {
    const room = { has: true }
    const database = open()
    const store = createIdempotencyStore(createSqliteStore(database, CALLS, () => room.has))
    const count = () => database.statement('SELECT count(*) AS count FROM calls_entries').get()?.['count']
    const begin = (client: string, from: number, to: number) =>
      Promise.all(Array.from({ length: to - from }, (_, at) => store.begin(`${client} ${from + at}`, NOW, client)))
    await begin('honest', 0, 10)
    await begin('greedy', 0, 3_000)
    room.has = false
    await begin('greedy', 3_000, 4_000)
    await begin('honest', 10, 20)
    const full = Number(count())
    expect(full).toBeLessThanOrEqual(3_010)
    const states = await begin('honest', 0, 20)
    expect(new Set(states.map(({ state }) => state))).toEqual(new Set(['running']))
    room.has = true
    await begin('greedy', 4_000, 4_100)
    expect(count()).toBe(full + 100)
  })
})

describe('rate limits in SQLite', () => {
  rateLimitsContract(() => [limits(), limits()])

  crowdedRateLimitsContract((keys) => createRateLimits(createSqliteStore(open(), { ...LIMITS, entries: keys })))
})

describe('limits in a file that another process has locked', () => {
  it('wait without holding the event loop, and count once it is free', async () => {
    const database = open()
    const counted = createRateLimits(createSqliteStore(database, LIMITS))
    await counted.take('first', { points: 1, seconds: 60 }, NOW)
    const other = new DatabaseSync(join(folder.path, 'runtime.sqlite'))
    other.exec('BEGIN IMMEDIATE')
    const answers = Promise.all(
      Array.from({ length: 4 }, () => counted.take('second', { points: 2, seconds: 60 }, NOW)),
    )
    for (let turn = 0; turn < 20; turn += 1) await nextTurn()
    other.close()
    expect((await answers).map(({ allowed }) => allowed).toSorted()).toEqual([false, false, true, true])
  })
})
