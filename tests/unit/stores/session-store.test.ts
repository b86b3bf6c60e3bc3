import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '../../../src/server/stores/open-database.ts'
import { createSessionStore, SESSIONS, type SessionStore } from '../../../src/server/stores/session-store.ts'
import { createSqliteStore } from '../../../src/server/stores/sqlite-store.ts'
import { openSessionDatabase } from '../../../src/server/stores/store-databases.ts'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'
import { sessionOf, sessionStoreContract } from './session-store-contract.ts'

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
})
