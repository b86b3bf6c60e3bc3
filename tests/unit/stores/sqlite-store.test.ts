import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openDatabase, type Database } from '../../../src/server/stores/open-database.ts'
import { createSqliteStore } from '../../../src/server/stores/sqlite-store.ts'
import type { StoreKind } from '../../../src/server/stores/store.ts'
import { storeTables } from '../../../src/server/stores/store-tables.ts'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'
import { boundedStoreContract, entryOf, storeContract } from './store-contract.ts'

const NOW = 1_800_000_000_000

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
  const database = openDatabase({ path: join(folder.path, 'store.sqlite'), migrations: [storeTables(name)] })
  opened.push(database)
  return database
}

const countRows = (kind: StoreKind): number =>
  Number(open(kind).statement(`SELECT count(*) AS rows FROM ${kind.name}_entries`).get()?.['rows'])

describe('a store in SQLite', () => {
  storeContract((kind) => [createSqliteStore(open(kind), kind), createSqliteStore(open(kind), kind)])
  boundedStoreContract((kind) => createSqliteStore(open(kind), kind), countRows)

  it('lists few of a great many clients to make room, and comes down to its bound all the same', async () => {
    const kind: StoreKind = { name: 'calls', entries: 420, bytes: 1_000_000 }
    const database = open(kind)
    const counts: number[] = []
    const watched: Database = {
      ...database,
      statement(sql) {
        const statement = database.statement(sql)
        if (sql.includes('HAVING') && !vi.isMockFunction(statement.all)) {
          const all = statement.all.bind(statement)
          vi.spyOn(statement, 'all').mockImplementation((...values) => {
            const rows = all(...(values as Parameters<typeof all>))
            counts.push(rows.length)
            return rows
          })
        }
        return statement
      },
    }
    const store = createSqliteStore(watched, kind)
    for (let at = 0; at < 880; at += 1) await store.put(entryOf(`${at}`, { client: `client ${at % 220}` }), NOW)
    expect(counts.length).toBeGreaterThan(10)
    expect(Math.max(...counts)).toBeLessThanOrEqual(64)
    expect(countRows(kind)).toBeLessThanOrEqual(420 + 420 / 16 + 1)
  })

  it('counts all its entries now and then, and sooner where many bytes were added', async () => {
    const kind: StoreKind = { name: 'calls', entries: 160, bytes: 16_000 }
    const store = createSqliteStore(open(kind), kind)
    const counted = vi.spyOn(opened[0] as Database, 'statement')
    const counts = (): number => counted.mock.calls.filter(([sql]) => sql.includes('count(DISTINCT')).length
    for (let at = 0; at < 9; at += 1) await store.put(entryOf(`${at}`, { value: '' }), NOW)
    expect(counts()).toBe(0)
    await store.put(entryOf('tenth', { value: '' }), NOW)
    expect(counts()).toBe(1)
    await store.put(entryOf('large', { value: 'x'.repeat(1_000) }), NOW)
    expect(counts()).toBe(2)
  })
})
