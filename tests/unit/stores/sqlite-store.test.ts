import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openDatabase, type Database } from '../../../src/server/stores/open-database.ts'
import { createSqliteStore } from '../../../src/server/stores/sqlite-store.ts'
import { MOST_EPOCHS, type StoreEntry, type StoreKind } from '../../../src/server/stores/store.ts'
import { storeAccounts, storeTables } from '../../../src/server/stores/store-tables.ts'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'
import { boundedStoreContract, entryOf, GREEDY, HONEST, ROOMY, storeContract } from './store-contract.ts'

const NOW = 1_800_000_000_000
const HOUR = 3_600_000

let folder: TempDir
let opened: Database[]

beforeEach(async () => {
  folder = await makeTempDir('store')
  opened = []
})
afterEach(async () => {
  for (const database of opened) database.dispose()
  await folder.remove()
})

function open({ name }: StoreKind): Database {
  const database = openDatabase({
    path: join(folder.path, 'store.sqlite'),
    migrations: [storeTables(name), storeAccounts(name)],
  })
  opened.push(database)
  return database
}

const countRows = (kind: StoreKind): number =>
  Number(open(kind).statement(`SELECT count(*) AS rows FROM ${kind.name}_entries`).get()?.['rows'])

/** Adds rows as other writes would have, without their tidying. */
function addRows(database: Database, { name }: StoreKind, count: number, more: Partial<StoreEntry>): void {
  const add = database.statement(
    `INSERT INTO ${name}_entries (key, value, client, expires_at, bytes) VALUES (?, ?, ?, ?, ?)`,
  )
  database.write(() => {
    for (let at = 0; at < count; at += 1) {
      const { key, value, client, expiresAt } = entryOf(`row ${at} ${more.client}`, { value: '', ...more })
      add.run(key, value, client, expiresAt * 1_000, value.length)
    }
  })
}

/** A database, and the number of entries or epochs that each of its transactions has removed, without those that removed none. */
function watched(kind: StoreKind): { readonly database: Database; readonly pieces: number[] } {
  const database = open(kind)
  const pieces: number[] = []
  let depth = 0
  let removed = 0
  const end = (): void => {
    if (depth > 0) return
    if (removed > 0) pieces.push(removed)
    removed = 0
  }
  const counting: Database = {
    ...database,
    write(work) {
      depth += 1
      try {
        return database.write(work)
      } finally {
        depth -= 1
        end()
      }
    },
    statement(sql) {
      const statement = database.statement(sql)
      if (sql.trimStart().startsWith('DELETE') && !vi.isMockFunction(statement.run)) {
        const run = statement.run.bind(statement)
        vi.spyOn(statement, 'run').mockImplementation((...values) => {
          const result = run(...(values as Parameters<typeof run>))
          removed += Number(result.changes)
          end()
          return result
        })
        const get = statement.get.bind(statement)
        vi.spyOn(statement, 'get').mockImplementation((...values) => {
          const row = get(...(values as Parameters<typeof get>))
          if (row !== undefined) removed += 1
          end()
          return row
        })
      }
      return statement
    },
  }
  return { database: counting, pieces }
}

describe('a store in SQLite', () => {
  storeContract((kind) => [createSqliteStore(open(kind), kind), createSqliteStore(open(kind), kind)])
  boundedStoreContract((kind) => createSqliteStore(open(kind), kind), countRows)

  it('removes few of the expired entries with each write, until none is left', async () => {
    const { database, pieces } = watched(ROOMY)
    addRows(database, ROOMY, 3_000, { expiresAt: NOW - 1 })
    const store = createSqliteStore(database, ROOMY)
    await store.put(entryOf('alone'), NOW)
    expect(pieces.splice(0)).toEqual([16])
    for (let at = 0; at < 320; at += 64) {
      await Promise.all(Array.from({ length: 64 }, (_, one) => store.put(entryOf(`${at + one}`), NOW)))
    }
    expect(Math.max(...pieces)).toBeLessThanOrEqual(64)
    for (let at = 0; at < 300; at += 1) await store.put(entryOf('again'), NOW)
    expect(countRows(ROOMY)).toBe(322)
  })

  it('removes few of the expired limits with each new key, and first those of a client without room', async () => {
    const kind: StoreKind = { name: 'limits', entries: 2_000, bytes: 0 }
    const { database, pieces } = watched(kind)
    addRows(database, kind, 500, { expiresAt: NOW - 2, client: HONEST })
    addRows(database, kind, 1_000, { expiresAt: NOW - 1, client: GREEDY })
    const store = createSqliteStore(database, kind)
    const once = { points: 1, seconds: 60 }
    expect((await store.take('own', once, NOW, GREEDY)).allowed).toBe(true)
    expect(await store.get('own', NOW)).toMatchObject({ client: GREEDY })
    expect(pieces.splice(0)).toEqual([32])
    for (let at = 0; at < 300; at += 1) await store.take(`${at}`, once, NOW, HONEST)
    expect(Math.max(...pieces)).toBeLessThanOrEqual(16)
    expect(countRows(kind)).toBe(301)
  })

  it('takes the room of a new entry in its transaction, never that of more', async () => {
    const kind: StoreKind = { name: 'calls', entries: 320, bytes: 1_000_000 }
    const { database, pieces } = watched(kind)
    const store = createSqliteStore(database, kind)
    for (let at = 0; at < 640; at += 1) {
      await store.put(entryOf(`${at}`, { client: `client ${at % 80}`, expiresAt: NOW + HOUR + at }), NOW)
    }
    expect(Math.max(...pieces)).toBe(1)
    expect(pieces.length).toBe(320)
    expect(countRows(kind)).toBe(320)
  })

  it('forgets an expired entry before one of the client that has most', async () => {
    const kind: StoreKind = { name: 'calls', entries: 200, bytes: 1_000_000 }
    const { database } = watched(kind)
    addRows(database, kind, 100, { expiresAt: NOW - 1, client: HONEST })
    const store = createSqliteStore(database, kind)
    const greedy = Array.from({ length: 100 }, (_, at) => `${at}`)
    await Promise.all(greedy.map((key) => store.put(entryOf(key, { client: GREEDY }), NOW)))
    await Promise.all(greedy.map((key) => store.put(entryOf(`other ${key}`, { client: `client ${key}` }), NOW)))
    for (const key of greedy) expect(await store.get(key, NOW)).toBeDefined()
  })

  it('forgets first what expires first where each client has one entry', async () => {
    const kind: StoreKind = { name: 'calls', entries: 10, bytes: 1_000_000 }
    const store = createSqliteStore(open(kind), kind)
    for (let at = 0; at < 15; at += 1) {
      await store.put(entryOf(`${at}`, { client: `client ${at}`, expiresAt: NOW + HOUR + at }), NOW)
    }
    const kept = (await store.list('ann', NOW)).map(({ key }) => Number(key))
    expect(kept.toSorted((one, other) => one - other)).toEqual([5, 6, 7, 8, 9, 10, 11, 12, 13, 14])
  })

  it('takes the room of many entries for a large value in pieces, for which its client waits', async () => {
    const kind: StoreKind = { name: 'calls', entries: 10_000, bytes: 100_000 }
    const { database, pieces } = watched(kind)
    addRows(database, kind, 400, { client: GREEDY, value: 'x'.repeat(100) })
    const store = createSqliteStore(database, kind)
    const large = store.put(
      entryOf('large', { client: GREEDY, value: 'x'.repeat(40_000), expiresAt: NOW + 2 * HOUR }),
      NOW,
    )
    await store.put(entryOf('honest'), NOW)
    expect(await store.get('honest', NOW)).toBeDefined()
    expect(countRows(kind)).toBeGreaterThan(300)
    await large
    expect(await store.get('large', NOW)).toBeDefined()
    expect(Math.max(...pieces)).toBeLessThanOrEqual(32)
    expect(countRows(kind)).toBe(102)
  })

  it('forgets few of the groups that advanced long ago with each advance', async () => {
    const { database, pieces } = watched(ROOMY)
    const add = database.statement('INSERT INTO sessions_epochs VALUES (?, ?)')
    database.write(() => {
      for (let at = 0; at < 500; at += 1) add.run(`old ${at}`, 1)
      for (let at = 0; at < MOST_EPOCHS; at += 1) add.run(`new ${at}`, NOW - 1_000)
    })
    const store = createSqliteStore(database, ROOMY)
    await store.advance('ann', NOW)
    for (let at = 0; at < 70; at += 1) await store.advance(`${at}`, NOW)
    expect(Math.max(...pieces)).toBeLessThanOrEqual(16 + 128)
    expect(database.statement('SELECT count(*) AS old FROM sessions_epochs WHERE epoch = 1').get()).toEqual({ old: 0 })
    const { epochs } = database.statement('SELECT count(*) AS epochs FROM sessions_epochs').get() ?? {}
    expect(epochs).toBeLessThanOrEqual(MOST_EPOCHS + 64)
  })

  it('knows what each client has, of a file of an older version too', async () => {
    const kind: StoreKind = { name: 'calls', entries: 40, bytes: 3_000 }
    const path = join(folder.path, 'store.sqlite')
    const old = openDatabase({ path, migrations: [storeTables(kind.name)] })
    addRows(old, kind, 30, { client: GREEDY })
    old.dispose()
    const database = open(kind)
    const store = createSqliteStore(database, kind)
    for (let at = 0; at < 200; at += 1) {
      const client = `client ${at % 7}`
      await store.put(
        entryOf(`${at % 60}`, { client, value: 'x'.repeat((at * 37) % 200), group: `${at % 5}` }),
        NOW + at,
      )
      if (at % 9 === 0) await store.remove(`${(at * 3) % 60}`, `${(at * 3) % 5}`)
      if (at % 50 === 0) await store.advance(`${at % 4}`, NOW + at)
    }
    const counted = database
      .statement('SELECT client, count(*) AS entries, sum(bytes) AS bytes FROM calls_entries GROUP BY client')
      .all()
    expect(database.statement('SELECT client, entries, bytes FROM calls_clients ORDER BY client').all()).toEqual(
      counted,
    )
    const sum = (of: 'entries' | 'bytes'): number => counted.reduce((total, row) => total + Number(row[of]), 0)
    const totals = { entries: sum('entries'), bytes: sum('bytes'), clients: counted.length }
    expect(database.statement('SELECT * FROM calls_totals').get()).toEqual(totals)
    expect(totals.entries).toBeLessThanOrEqual(kind.entries)
    expect(totals.bytes).toBeLessThanOrEqual(kind.bytes)
  })
})
