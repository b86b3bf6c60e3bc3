import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openReportDatabase } from '../../../src/server/reports/spool-database.ts'
import { createSpool, type SpoolBounds } from '../../../src/server/reports/spool-store.ts'
import { kindOf, SpoolFullError, type LocalSpool, type SpooledEntry } from '../../../src/server/reports/spool.ts'
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
