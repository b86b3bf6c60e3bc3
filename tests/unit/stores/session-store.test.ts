import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Database } from '../../../src/server/stores/open-database.ts'
import { createSessionStore, openSessionDatabase } from '../../../src/server/stores/session-store.ts'
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

function open(): Database {
  const database = openSessionDatabase(join(folder.path, 'sessions.sqlite'))
  opened.push(database)
  return database
}

const countRows = (): unknown => open().statement('SELECT count(*) AS rows FROM sessions').get()?.['rows']

describe('sessions in SQLite', () => {
  sessionStoreContract(() => [createSessionStore(open()), createSessionStore(open())])

  it('are a file for its owner alone', async () => {
    await createSessionStore(open()).start(sessionOf('ann', 'a'), 5)
    const { mode } = await stat(join(folder.path, 'sessions.sqlite'))
    expect(mode & 0o077).toBe(0)
  })

  it('are deleted after they have expired, also while nobody signs in', async () => {
    const store = createSessionStore(open(), { sessions: 100, sweepEvery: 2 })
    await store.start(sessionOf('ann', 'a'), 5)
    await store.start(sessionOf('ann', 'b', { expiresAt: NOW + 2 * HOUR }), 5)
    expect(countRows()).toBe(2)
    for (const seenAt of [NOW + HOUR, NOW + HOUR + 1]) {
      await store.touch({ id: 'b', user: 'ann', seenAt, expiresAt: NOW + 3 * HOUR })
    }
    expect(countRows()).toBe(1)
  })

  it('take no more room than the bound, and a client that starts many loses its own', async () => {
    const store = createSessionStore(open(), { sessions: 10, sweepEvery: 1 })
    await store.start(sessionOf('ann', 'honest', { client: '198.51.100.1', seenAt: NOW - HOUR }), 20)
    for (let count = 0; count < 30; count += 1) {
      await store.start(sessionOf(`bot ${count}`, `bot ${count}`, { seenAt: NOW + count }), 20)
    }
    expect(countRows()).toBe(10)
    expect(await store.read('honest', NOW)).toBeDefined()
    expect(await store.read('bot 29', NOW)).toBeDefined()
    expect(await store.read('bot 0', NOW)).toBeUndefined()
  })
})
