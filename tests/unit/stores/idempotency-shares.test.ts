import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createIdempotentCalls } from '../../../src/server/routes/actions/idempotent-calls.ts'
import type { FinishedCall } from '../../../src/server/routes/actions/run-action.ts'
import { CALLS, createIdempotencyStore } from '../../../src/server/stores/idempotency-store.ts'
import type { Database } from '../../../src/server/stores/open-database.ts'
import { createSqliteStore } from '../../../src/server/stores/sqlite-store.ts'
import { openRuntimeDatabase } from '../../../src/server/stores/store-databases.ts'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'

const NOW = 1_800_000_000_000
const GREEDY = '198.51.100.7'
const HONEST = '203.0.113.9'

let folder: TempDir
let database: Database

beforeEach(async () => {
  folder = await makeTempDir('idempotency-shares')
  database = openRuntimeDatabase(folder.path)
})
afterEach(async () => {
  database.dispose()
  await folder.remove()
})

describe('calls of one client without end', () => {
  test('count for both keys where an answer sets a cookie, and run once, however many there are', async () => {
    const kind = { ...CALLS, entries: 6 }
    const store = createIdempotencyStore(createSqliteStore(database, kind))
    const calls = createIdempotentCalls(
      { calls: store, sessions: { stateOf: async () => 'kept' as const } },
      () => (now += 1),
    )
    let now = NOW
    const runs = new Map<string, number>()
    const call = (key: string, address: string): Promise<FinishedCall | 'running'> => {
      const headers = new Headers({ 'Set-Cookie': 'session=1' })
      return calls.run(
        { sent: key, content: key, isOfRouter: true, repeated: () => `${key}, with the cookie` },
        async () => {
          runs.set(key, (runs.get(key) ?? 0) + 1)
          return { outcome: { kind: 'value', value: 1 }, revalidate: [] }
        },
        {
          clientAddress: { address },
          req: { headers: {} },
          loaderContext: { headers },
          givenHeaders: headers,
          audience: { sessions: undefined },
          log: { warn: () => undefined },
        } as never,
      )
    }
    await call('honest', HONEST)
    for (let at = 0; at < 50; at += 1) {
      await call(`greedy ${at}`, GREEDY)
      await call(`greedy ${at}`, GREEDY)
    }
    await call('honest, with the cookie', HONEST)
    await call('honest', HONEST)
    expect(runs.size).toBe(51)
    expect(new Set(runs.values())).toEqual(new Set([1]))
    const { held } =
      database.statement('SELECT count(*) AS held FROM calls_entries WHERE client = ?').get(`=${GREEDY}`) ?? {}
    expect(held).toBeLessThanOrEqual(6)
  })
})
