import { mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDatabase, type Database } from '../../../src/server/stores/open-database.ts'
import { createSessionStore, SESSIONS, type SessionStore } from '../../../src/server/stores/session-store.ts'
import { createSqliteStore } from '../../../src/server/stores/sqlite-store.ts'
import { openSessionDatabase } from '../../../src/server/stores/store-databases.ts'
import { FORMER_SESSIONS } from '../../../src/server/stores/store-tables.ts'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'
import { sessionOf, sessionStoreContract } from './session-store-contract.ts'

const NOW = 1_800_000_000_000
const HOUR = 3_600_000

let folder: TempDir
let opened: Database[]

beforeEach(async () => {
  folder = await makeTempDir('sessions')
  opened = []
})
afterEach(async () => {
  for (const database of opened) database.dispose()
  await folder.remove()
})

function open(): SessionStore {
  const database = openSessionDatabase(folder.path)
  opened.push(database)
  return createSessionStore(createSqliteStore(database, SESSIONS))
}

describe('sessions in SQLite', () => {
  sessionStoreContract(() => [open(), open()])

  it('are a file for its owner alone', async () => {
    await open().start(sessionOf('ann', 'a'), 5)
    const { mode } = await stat(join(folder.path, 'sessions.sqlite'))
    expect(mode & 0o077).toBe(0)
  })

  it('of before the store are taken along', async () => {
    await mkdir(folder.path, { recursive: true })
    const former = openDatabase({ path: join(folder.path, 'sessions.sqlite'), migrations: [FORMER_SESSIONS] })
    const { userAgent, startedAt, seenAt, expiresAt, ...rest } = sessionOf('ann', 'a', { data: '{"name":"Zoë"}' })
    former
      .statement('INSERT INTO sessions VALUES (:id, :user, :client, :data, :agent, :from, :seen, :until)')
      .run({ ...rest, agent: userAgent, from: startedAt, seen: seenAt, until: expiresAt })
    former.dispose()
    const store = open()
    const session = await store.read('a', NOW)
    expect(session).toMatchObject(sessionOf('ann', 'a', { data: '{"name":"Zoë"}' }))
    expect((await store.list('ann', NOW)).map(({ id }) => id)).toEqual(['a'])
    expect(await store.read('a', NOW + HOUR)).toBeUndefined()
  })
})
