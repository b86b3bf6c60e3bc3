import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openReportDatabase } from '../../../src/server/reports/report-database.ts'
import { createGroupedSpool } from '../../../src/server/reports/spool/grouped-spool.ts'
import type { SpoolBounds } from '../../../src/server/reports/spool/spool-room.ts'
import { createSpool } from '../../../src/server/reports/spool/spool-store.ts'
import { SpoolFullError } from '../../../src/server/reports/intake/accepted-envelope.ts'
import { kindOf, spooledSize, type LocalSpool, type SpooledEntry } from '../../../src/server/reports/spool/spool.ts'
import type { Database } from '../../../src/server/stores/open-database.ts'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'
import { NOW, sampleEnvelope } from './sample-envelope.ts'
import { spoolContract } from './spool-contract.ts'

const ROOMY: SpoolBounds = { bytes: 1_000_000, ageMs: 60_000 }

let folder: TempDir
let opened: Database[]

beforeEach(async () => {
  folder = await makeTempDir('spool')
  opened = []
})
afterEach(async () => {
  for (const database of opened) database.dispose()
  await folder.remove()
})

function openFile(path = folder.path): Database {
  const database = openReportDatabase(path)
  opened.push(database)
  return database
}

function open(bounds = ROOMY, destination = 'one'): LocalSpool {
  return createSpool(openFile(), { destination, bounds })
}

function all(spool: LocalSpool): SpooledEntry[] {
  return spool
    .kinds()
    .flatMap((kind) => spool.list(kind, 0, 1_000))
    .toSorted((one, other) => one.id - other.id)
}

function idsOf(spool: LocalSpool): (string | undefined)[] {
  return all(spool).map(({ eventId }) => eventId)
}

function refusalOf(run: () => void): unknown {
  try {
    run()
    return undefined
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(SpoolFullError)
    return (thrown as SpoolFullError).limit
  }
}

describe('a spool in SQLite', () => {
  spoolContract((bounds, destination) => open(bounds, destination))

  it('is there after the process has come back, without what has been settled', () => {
    const database = openFile()
    const before = createSpool(database, { destination: 'one', bounds: ROOMY })
    for (const eventId of ['a', 'b']) before.accept(sampleEnvelope({ eventId }))
    database.dispose()
    const spool = open()
    const [first] = all(spool) as [SpooledEntry]
    spool.settle(first)
    expect(idsOf(spool)).toEqual(['b'])
    expect(open().size()).toEqual({ envelopes: 1, bytes: all(spool)[0]?.bytes })
  })

  it('never numbers two envelopes alike, though all before have gone', () => {
    const spool = createSpool(openFile(), { destination: 'one', bounds: ROOMY })
    const first = spool.keep(sampleEnvelope({ eventId: 'a' })) as number
    const [entry] = all(spool) as [SpooledEntry]
    spool.settle(entry)
    const again = createSpool(openFile(), { destination: 'one', bounds: ROOMY })
    expect(again.keep(sampleEnvelope({ eventId: 'b' }))).toBeGreaterThan(first)
  })

  it('makes room in steps where thousands of small ones would have to go for one', async () => {
    const database = openFile()
    const small = sampleEnvelope({ categories: { session: 1 }, bytes: 10 })
    const bounds = { ...ROOMY, bytes: 2_100 * spooledSize(small) }
    const spool = createSpool(database, { destination: 'one', bounds })
    database.write(() => {
      for (let count = 0; count < 2_100; count += 1) spool.accept(small)
    })
    const large = sampleEnvelope({ categories: { session: 1 }, bytes: 2_080 * spooledSize(small), eventId: 'large' })
    // What it has not found enough room by is gone for the next try, though others share the transaction.
    const grouped = createGroupedSpool(spool, database)
    const tries = await Promise.allSettled([grouped.accept(small), grouped.accept(large)])
    expect(tries).toMatchObject([{ status: 'fulfilled' }, { status: 'rejected', reason: { limit: 'bound' } }])
    await grouped.accept(large)
    expect(idsOf(spool)).toContain('large')
    expect(spool.size().bytes).toBeLessThanOrEqual(bounds.bytes)
  })

  it('has accounts of clients while much waits, right in every process, and none while little does', () => {
    const [database, other] = [openFile(), openFile()]
    const bounds = { ...ROOMY, bytes: 20_000 }
    const [here, there] = [database, other].map((each) => createSpool(each, { destination: 'one', bounds }))
    if (here === undefined || there === undefined) throw new Error('two were opened')
    const accounts = (): unknown[] =>
      database.statement('SELECT client, envelopes, bytes FROM spool_clients WHERE bytes > 0 ORDER BY client').all()
    const sums = (): unknown[] =>
      database
        .statement(
          'SELECT client, count(*) AS envelopes, sum(bytes) AS bytes FROM spool GROUP BY client ORDER BY client',
        )
        .all()
    for (let at = 0; at < 4; at += 1) here.accept(sampleEnvelope({ client: 'few', bytes: 400 }))
    expect(accounts()).toEqual([])
    for (let at = 0; at < 60; at += 1) {
      const spool = at % 2 === 0 ? here : there
      spool.accept(sampleEnvelope({ client: `client ${at % 7}`, bytes: 400 + at, categories: { session: 1 } }))
      if (at % 3 === 0) for (const entry of all(spool).slice(0, 1)) spool.settle(entry)
    }
    expect(accounts()).toEqual(sums())
    expect(accounts()).toHaveLength(7)
    for (const entry of all(there)) there.settle(entry)
    expect(accounts()).toEqual([])
    expect(database.statement("SELECT name FROM sqlite_schema WHERE name = 'spool_client'").all()).toEqual([])
    here.accept(sampleEnvelope({ eventId: 'a' }))
    expect(idsOf(there)).toEqual(['a'])
  })

  it('has one bound for all destinations, and tells each of its own losses', () => {
    const tight = { ...ROOMY, bytes: 1_000 }
    open(tight, 'one').accept(sampleEnvelope({ bytes: 1_000 - 512 - 'user-agenttest'.length }))
    const other = open(tight, 'other')
    expect(other.size().envelopes).toBe(1)
    other.accept(sampleEnvelope({ bytes: 400 }))
    expect(other.reportLosses(NOW)).toBeUndefined()
    expect(open(tight, 'one').reportLosses(NOW)).toEqual({ 'queue_overflow error': 1 })
  })
})

describe('a disk that cannot be written', () => {
  it('refuses the envelope and says that it is the disk', () => {
    const path = join(folder.path, 'a file')
    writeFileSync(path, '')
    const spool = createSpool(openFile(path), { destination: 'one' })
    expect(refusalOf(() => spool.accept(sampleEnvelope()))).toBe('disk')
  })

  it('takes envelopes again as soon as there is room on it, and has lost none of the others', () => {
    const database = openFile()
    const spool = createSpool(database, { destination: 'one', bounds: ROOMY })
    spool.accept(sampleEnvelope({ eventId: 'a' }))
    const pages = Number(database.statement('PRAGMA page_count').get()?.['page_count'])
    database.statement(`PRAGMA max_page_count = ${pages}`).get()
    expect(refusalOf(() => spool.accept(sampleEnvelope({ eventId: 'b', bytes: 100_000 })))).toBe('disk')
    expect(idsOf(spool)).toEqual(['a'])
    database.statement('PRAGMA max_page_count = 1000000').get()
    spool.accept(sampleEnvelope({ eventId: 'c', bytes: 100_000 }))
    expect(idsOf(spool)).toEqual(['a', 'c'])
  })
})

describe('the kind of an envelope', () => {
  it.each([
    [{ error: 1 }, 'error'],
    [{ attachment: 2, error: 1 }, 'error,attachment'],
    [{ session: 1, internal: 1 }, 'session'],
    [{ internal: 1 }, 'internal'],
    [{}, 'internal'],
    [{ trace_metric: 1, log_item: 1 }, 'log_item,trace_metric'],
    [{ attachment: 1, replay: 1, transaction: 1, error: 1 }, 'error,transaction'],
  ])('of %j is %s', (categories, expected) => {
    expect(kindOf(categories as Record<string, number>)).toBe(expected)
  })
})
