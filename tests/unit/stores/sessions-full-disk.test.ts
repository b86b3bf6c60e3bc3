/** Sessions in a file whose disk has no room for more. */
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDatabase, type Database } from '../../../src/server/stores/open-database.ts'
import { SESSIONS } from '../../../src/server/stores/session-store.ts'
import { createSqliteStore } from '../../../src/server/stores/sqlite-store.ts'
import type { Store } from '../../../src/server/stores/store.ts'
import { storeAccounts, storeTables } from '../../../src/server/stores/store-tables.ts'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'
import { entryOf, GREEDY, HONEST } from './store-contract.ts'

const NOW = 1_800_000_000_000
const HOUR = 3_600_000

let folder: TempDir
let database: Database
let room: { has: boolean }
let store: Store

beforeEach(async () => {
  folder = await makeTempDir('store')
  const { name } = SESSIONS
  database = openDatabase({
    path: join(folder.path, 'store.sqlite'),
    migrations: [storeTables(name), storeAccounts(name)],
  })
  room = { has: true }
  store = createSqliteStore(database, SESSIONS, () => room.has)
})
afterEach(async () => {
  database.dispose()
  await folder.remove()
})

const totals = () =>
  database.statement('SELECT count(*) AS entries, sum(bytes) AS bytes FROM sessions_entries').get() as {
    readonly entries: number
    readonly bytes: number
  }

/** Each of a user of its own; later ones expire later. */
async function start(client: string, from: number, to: number, bytes: number): Promise<void> {
  const value = 'x'.repeat(bytes)
  for (let at = from; at < to; at += 1) {
    const key = `${client} ${at}`
    await store.put(entryOf(key, { client, value, group: key, expiresAt: NOW + HOUR + at }), NOW, { mostOfGroup: 9 })
  }
}

const has = async (client: string, at: number): Promise<boolean> =>
  (await store.get(`${client} ${at}`, NOW)) !== undefined

describe('sessions on a disk without room', () => {
  it('get neither more nor larger: whoever has most loses those that expire first', async () => {
    await start(HONEST, 0, 3, 500)
    await start(GREEDY, 0, 2_500, 1_000)
    const before = totals()
    room.has = false
    await start(GREEDY, 2_500, 3_500, 3_900)
    await start(HONEST, 3, 13, 500)
    const after = totals()
    expect(after.entries).toBeLessThanOrEqual(before.entries)
    expect(after.bytes).toBeLessThanOrEqual(before.bytes + 1_000)
    for (let at = 0; at < 13; at += 1) expect(await has(HONEST, at)).toBe(true)
    expect([await has(GREEDY, 0), await has(GREEDY, 3_499)]).toEqual([false, true])
    room.has = true
    await start(HONEST, 13, 100, 500)
    expect(totals().entries).toBe(after.entries + 87)
  })

  it('are ended for want of it with nobody who has one alone', async () => {
    for (let at = 0; at < 2_200; at += 1) await start(`client ${at}`, 0, 1, 1_000)
    room.has = false
    for (let at = 2_200; at < 2_300; at += 1) await start(`client ${at}`, 0, 1, 1_000)
    expect(totals().entries).toBe(2_300)
  })

  it('may be 2,048, or a megabyte, on any disk', async () => {
    room.has = false
    await start(GREEDY, 0, 900, 500)
    expect(totals().entries).toBe(900)
  })
})
