import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseEnvelope } from '../../../src/server/reports/envelope.ts'
import { openReportDatabase } from '../../../src/server/reports/spool-database.ts'
import { createSpool, type SpoolBounds } from '../../../src/server/reports/spool-store.ts'
import { kindOf, SpoolFullError, type Spool, type SpooledEntry } from '../../../src/server/reports/spool.ts'
import type { Database } from '../../../src/server/stores/open-database.ts'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'
import { NOW, sampleEnvelope } from './sample-envelope.ts'

const ROOMY: SpoolBounds = { bytes: 1_000_000, ageMs: 60_000 }
const ROW = 512 + 'user-agenttest'.length // what an envelope counts for beside its body
const BODY = 1_000 - ROW

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

function open(bounds = ROOMY, destination = 'one'): Spool {
  return createSpool(openFile(), { destination, bounds })
}

function all(spool: Spool): SpooledEntry[] {
  return spool
    .kinds()
    .flatMap((kind) => spool.list(kind, 0, 1_000))
    .toSorted((one, other) => one.id - other.id)
}

function idsOf(spool: Spool): (string | undefined)[] {
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

describe('an accepted envelope', () => {
  it('is there after the process has come back, byte for byte', () => {
    const body = randomBytes(50_000)
    const database = openFile()
    createSpool(database, { destination: 'one', bounds: ROOMY }).accept({ ...sampleEnvelope({ eventId: 'a' }), body })
    database.dispose()
    const spool = open()
    const [entry] = all(spool)
    expect(entry).toMatchObject({ kind: 'error', client: '192.0.2.1', eventId: 'a', categories: { error: 1 } })
    const read = spool.read(entry?.id ?? 0)
    expect(read?.headers).toEqual({ 'user-agent': 'test' })
    expect(read?.body.equals(body)).toBe(true)
  })

  it('leaves once it is settled, with its bytes', () => {
    const spool = open()
    for (const eventId of ['a', 'b']) spool.accept(sampleEnvelope({ eventId, bytes: BODY }))
    expect(spool.size()).toEqual({ envelopes: 2, bytes: 2_000 })
    const [first] = all(spool) as [SpooledEntry]
    spool.settle(first)
    expect(spool.read(first.id)).toBeUndefined()
    expect(idsOf(spool)).toEqual(['b'])
    expect(spool.size()).toEqual({ envelopes: 1, bytes: 1_000 })
    expect(openFile().statement('SELECT count(*) AS rows FROM spool_bodies').get()?.['rows']).toBe(1)
  })

  it('waits for its own destination and is shown to no other', () => {
    open(ROOMY, 'one').accept(sampleEnvelope({ eventId: 'a' }))
    const other = open(ROOMY, 'other')
    expect(other.kinds()).toEqual([])
    expect(other.size().envelopes).toBe(1)
    other.accept(sampleEnvelope({ eventId: 'b' }))
    expect(idsOf(other)).toEqual(['b'])
    expect(idsOf(open(ROOMY, 'one'))).toEqual(['a'])
  })
})

describe('where there is no room', () => {
  const four: SpoolBounds = { ...ROOMY, bytes: 4_000 }
  const error = (eventId: string) => sampleEnvelope({ eventId, bytes: BODY })
  const session = (eventId: string) => sampleEnvelope({ eventId, bytes: BODY, categories: { session: 1 } })

  it('the oldest of what is no error goes first, and is counted', () => {
    const spool = open(four)
    for (const envelope of [error('e1'), session('s1'), error('e2'), session('s2')]) spool.accept(envelope)
    spool.accept(session('s3'))
    expect(idsOf(spool)).toEqual(['e1', 'e2', 's2', 's3'])
    spool.accept(error('e3'))
    expect(idsOf(spool)).toEqual(['e1', 'e2', 's3', 'e3'])
    expect(spool.reportLosses(NOW)).toEqual({ 'queue_overflow session': 2 })
  })

  it('the oldest error goes only when nothing else is left', () => {
    const spool = open(four)
    for (const envelope of [error('e1'), session('s1'), error('e2'), error('e3')]) spool.accept(envelope)
    spool.accept(error('e4'))
    spool.accept(error('e5'))
    expect(idsOf(spool)).toEqual(['e2', 'e3', 'e4', 'e5'])
    expect(spool.reportLosses(NOW)).toEqual({ 'queue_overflow error': 1, 'queue_overflow session': 1 })
  })

  it('errors are not driven out by anything else: it is refused, and nothing goes', () => {
    const spool = open(four)
    for (const eventId of ['e1', 'e2', 'e3', 'e4']) spool.accept(error(eventId))
    expect(refusalOf(() => spool.accept(session('s1')))).toBe('bound')
    expect(idsOf(spool)).toEqual(['e1', 'e2', 'e3', 'e4'])
    expect(spool.reportLosses(NOW)).toBeUndefined()
  })

  it('an envelope that would not fit into an empty spool drives nothing out', () => {
    const spool = open(four)
    spool.accept(session('s1'))
    expect(refusalOf(() => spool.accept(sampleEnvelope({ bytes: 4_000 })))).toBe('bound')
    expect(idsOf(spool)).toEqual(['s1'])
  })

  it('what was evicted while it was being delivered does not count as lost', () => {
    const spool = open(four)
    for (const eventId of ['s1', 's2', 's3', 's4']) spool.accept(session(eventId))
    const [underWay] = all(spool) as [SpooledEntry]
    spool.accept(error('e1'))
    expect(spool.read(underWay.id)).toBeUndefined()
    spool.settle(underWay)
    expect(spool.reportLosses(NOW)).toBeUndefined()
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

describe('an envelope that has waited too long', () => {
  it('goes, and is counted by what has held it up', () => {
    const spool = open()
    spool.accept(sampleEnvelope({ eventId: 'old', receivedAt: NOW }))
    spool.accept(sampleEnvelope({ eventId: 'held', receivedAt: NOW, categories: { transaction: 1, span: 3 } }))
    spool.accept(sampleEnvelope({ eventId: 'young', receivedAt: NOW + 1 }))
    const reason = (kind: string) => (kind === 'transaction,span' ? 'ratelimit_backoff' : 'network_error')
    expect(spool.expire(NOW + ROOMY.ageMs - 1, reason)).toBe(0)
    expect(spool.expire(NOW + ROOMY.ageMs, reason)).toBe(2)
    expect(idsOf(spool)).toEqual(['young'])
    expect(spool.reportLosses(NOW)).toEqual({
      'network_error error': 1,
      'ratelimit_backoff span': 3,
      'ratelimit_backoff transaction': 1,
    })
  })

  it('is let go in steps, so that nothing else has to wait', () => {
    const spool = open()
    for (let at = 0; at < 600; at += 1) spool.accept(sampleEnvelope())
    const later = NOW + ROOMY.ageMs
    expect([1, 2, 3].map(() => spool.expire(later, () => 'network_error'))).toEqual([512, 88, 0])
  })
})

describe('what was lost', () => {
  it('is told to the service in one client report, once', () => {
    const spool = open()
    for (const categories of [
      { error: 2, attachment: 1 },
      { error: 1, internal: 1 },
    ]) {
      spool.accept(sampleEnvelope({ categories }))
    }
    for (const entry of all(spool)) spool.settle(entry, 'send_error')
    spool.reportLosses(NOW + 500)
    expect(spool.reportLosses(NOW)).toBeUndefined()
    const [report] = all(spool) as [SpooledEntry]
    expect(report).toMatchObject({ kind: 'internal', categories: { internal: 1 } })
    const [item] = parseEnvelope(spool.read(report.id)?.body ?? Buffer.alloc(0)).items
    expect(item?.type).toBe('client_report')
    expect(JSON.parse(String(item?.payload))).toEqual({
      timestamp: NOW / 1_000 + 0.5,
      discarded_events: [
        { reason: 'send_error', category: 'attachment', quantity: 1 },
        { reason: 'send_error', category: 'error', quantity: 3 },
      ],
    })
  })

  it('is told to the service it was meant for', () => {
    const tight = { ...ROOMY, bytes: 1_000 }
    open(tight, 'one').accept(sampleEnvelope({ bytes: BODY }))
    const other = open(tight, 'other')
    other.accept(sampleEnvelope({ bytes: BODY }))
    expect(other.reportLosses(NOW)).toBeUndefined()
    expect(open(tight, 'one').reportLosses(NOW)).toEqual({ 'queue_overflow error': 1 })
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

it('nothing disappears: whatever was accepted is waiting, delivered or counted', () => {
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.record({ do: fc.constant('accept'), error: fc.boolean(), bytes: fc.nat(1_500) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('deliver'), at: fc.nat(20) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('expire'), after: fc.nat(120) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('report') }) },
  )
  const database = openFile()
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const bounds = { bytes: 8_000, ageMs: 100 }
      const spool = createSpool(database, { destination: 'one', bounds })
      for (const entry of all(spool)) spool.settle(entry)
      spool.reportLosses(NOW)
      for (const entry of all(spool)) spool.settle(entry)
      const sum = { accepted: 0, delivered: 0, lost: 0 }
      const tally = (losses = {}): number => Object.values<number>(losses).reduce((total, each) => total + each, 0)
      steps.forEach((each, at) => {
        if ('error' in each) {
          const categories: Record<string, number> = each.error ? { error: 1 } : { session: 1 }
          const envelope = sampleEnvelope({ categories, bytes: each.bytes, receivedAt: NOW + at })
          if (refusalOf(() => spool.accept(envelope)) === undefined) sum.accepted += 1
        } else if ('at' in each) {
          const entry = all(spool)
            .filter(({ kind }) => kind !== 'internal')
            .at(each.at)
          if (entry === undefined) return
          spool.settle(entry)
          sum.delivered += 1
        } else if ('after' in each) spool.expire(NOW + each.after, () => 'network_error')
        else sum.lost += tally(spool.reportLosses(NOW + at))
      })
      sum.lost += tally(spool.reportLosses(NOW + 100))
      const waiting = all(spool)
      expect(waiting.filter(({ kind }) => kind !== 'internal').length + sum.delivered + sum.lost).toBe(sum.accepted)
      const bytes = waiting.reduce((total, entry) => total + entry.bytes, 0)
      expect(spool.size()).toEqual({ envelopes: waiting.length, bytes })
    }),
    { numRuns: 60 },
  )
})
