import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openReportDatabase } from '../../../src/server/reports/report-database.ts'
import { createGroupedSpool } from '../../../src/server/reports/spool/grouped-spool.ts'
import { createSpool, type FileSpool } from '../../../src/server/reports/spool/spool-store.ts'
import type { Spool } from '../../../src/server/reports/spool/spool.ts'
import type { Database } from '../../../src/server/stores/open-database.ts'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'
import { answered, deliveryWorld, settled, TAKEN, UNREACHABLE, type DeliveryWorld } from './delivery-world.ts'
import { sampleEnvelope, type EnvelopeChoice } from './sample-envelope.ts'

let folder: TempDir
let database: Database
let spool: FileSpool

beforeEach(async () => {
  folder = await makeTempDir('drainer')
  database = openReportDatabase(folder.path)
  spool = createSpool(database, { destination: 'one', bounds: { bytes: 1_000_000, ageMs: 3_600_000 } })
})
afterEach(async () => {
  database.dispose()
  await folder.remove()
})

function accept(eventId: string, choice: EnvelopeChoice = {}): void {
  spool.accept(sampleEnvelope({ eventId, client: eventId.slice(0, 1), ...choice }))
}

const transaction: EnvelopeChoice = { categories: { transaction: 1 } }
const warnings = ({ lines }: DeliveryWorld): string[] =>
  lines.filter(({ level }) => level !== 'info').map(({ message }) => message)

describe('a spool behind a network', () => {
  /** Answers a little later, to each call at another time. */
  function distant(): Spool {
    let calls = 0
    const later = async <Result>(work: () => Result): Promise<Result> => {
      calls += 1
      for (let turn = calls % 3; turn >= 0; turn -= 1) await new Promise((resolve) => setImmediate(resolve))
      return work()
    }
    return {
      accept: (envelope) => later(() => spool.accept(envelope)),
      size: () => later(() => spool.size()),
      lastId: () => later(() => spool.lastId()),
      kinds: () => later(() => spool.kinds()),
      list: (kind, after, most) => later(() => spool.list(kind, after, most)),
      read: (id) => later(() => spool.read(id)),
      settle: (entry, lost) => later(() => spool.settle(entry, lost)),
      expire: (now, reasonOf) => later(() => spool.expire(now, reasonOf)),
      reportLosses: (now) => later(() => spool.reportLosses(now)),
    }
  }

  it('has everything sent in order and once, whatever the service says meanwhile', async () => {
    const ids = ['a', 'b', 'c', 'd'].flatMap((client) => Array.from({ length: 30 }, (_, at) => `${client}${at}`))
    for (const id of ids) accept(id)
    const world = deliveryWorld({ spool: distant(), database })
    const taken: string[] = []
    let answers = 0
    world.service.answerBy((name) => {
      answers += 1
      if (answers % 7 === 0) return answered(503)
      if (answers % 11 === 0) return answered(429, { rateLimits: '5:error:key', retryAfter: '5' })
      taken.push(name)
      return TAKEN
    })
    while (spool.size().envelopes > 0 && taken.length < 1_000) await world.clock.pass(1_000)
    expect(taken.toSorted()).toEqual(ids.toSorted())
    for (const client of ['a', 'b', 'c', 'd']) {
      expect(taken.filter((name) => name.startsWith(client))).toEqual(ids.filter((id) => id.startsWith(client)))
    }
  })

  it('gives nothing a second time while it still hears that it was delivered', async () => {
    const { promise: heard, resolve } = Promise.withResolvers<void>()
    accept('a1')
    accept('a2')
    accept('t1', transaction)
    const slow: Spool = { ...spool, settle: (entry, lost) => heard.then(() => spool.settle(entry, lost)) }
    const world = deliveryWorld({ spool: slow, database })
    await world.clock.pass(0)
    await world.service.arrivals[0]?.answer(TAKEN)
    // The queue is read again from its beginning.
    await world.service.arrivals[1]?.answer(answered(429, { rateLimits: '60:transaction:key' }))
    expect(world.service.names()).toEqual(['a1', 't1'])
    resolve()
    await settled()
    expect(world.service.names()).toEqual(['a1', 't1', 'a2'])
  })

  it('is not asked for more by two turns at once', async () => {
    let asking = 0
    let most = 0
    const counted = distant()
    const hold = async (kind: string, after: number, count: number) => {
      asking += 1
      most = Math.max(most, asking)
      const entries = await counted.list(kind, after, count)
      asking -= 1
      return entries
    }
    for (const id of ['a1', 'b1', 'c1']) accept(id)
    const world = deliveryWorld({ spool: { ...counted, list: hold }, database })
    world.service.answerBy(() => TAKEN)
    for (let turn = 0; turn < 20; turn += 1) {
      world.drainer.wake()
      await world.clock.pass(0)
    }
    expect(most).toBe(1)
    expect(world.service.names()).toEqual(['a1', 'b1', 'c1'])
  })
})

it('a store that has failed is read from its beginning: it may give ids a second time', async () => {
  let broken = false
  const lastId = (): number => {
    if (broken) throw new Error('the store is away')
    return spool.lastId()
  }
  const world = deliveryWorld({ spool: { ...spool, lastId }, database })
  world.service.answerBy(() => TAKEN)
  for (const eventId of ['a1', 'b1']) accept(eventId)
  await world.clock.pass(2_000)
  broken = true
  await world.clock.pass(2_000)
  broken = false
  accept('c1')
  database.statement('UPDATE spool SET id = 1').run()
  database.statement('UPDATE spool_total SET last_id = 2').run()
  await world.clock.pass(2_000)
  expect(world.service.names()).toEqual(['a1', 'b1', 'c1'])
})

it('what another process has delivered meanwhile is not sent from memory', async () => {
  const own: Spool = { ...createGroupedSpool(spool, database), settle: spool.settle }
  for (const eventId of ['a1', 'a2', 'a3']) await own.accept(sampleEnvelope({ eventId, client: 'a' }))
  const world = deliveryWorld({ spool: own, database })
  await world.clock.pass(3_000)
  expect(world.service.names()).toEqual(['a1'])
  database.statement("UPDATE spool_leases SET owner = 'other', expires_at = expires_at + 2000").run()
  await world.clock.pass(2_000)
  for (const entry of spool.list('error', 1, 1)) spool.settle(entry)
  database.statement('DELETE FROM spool_leases').run()
  await world.clock.pass(1_000)
  await world.service.arrivals[0]?.answer(UNREACHABLE)
  world.service.answerBy(() => TAKEN)
  await world.clock.pass(60_000)
  expect(world.service.names()).toEqual(['a1', 'a1', 'a3'])
})

it('an entry whose envelope is gone leaves the queue and is counted', async () => {
  for (const id of ['a1', 'a2']) accept(id)
  const read: Spool['read'] = (id) => (id === 1 ? undefined : spool.read(id))
  const world = deliveryWorld({ spool: { ...spool, read }, database })
  world.service.answerBy(() => TAKEN)
  await world.clock.pass(60_000)
  expect(world.service.names()).toEqual(['a2', 'client_report'])
  expect(spool.size().envelopes).toBe(0)
  const lost = world.lines.filter(({ message }) => message === 'reports were lost')
  expect(lost.map(({ detail }) => detail)).toEqual([{ losses: { 'queue_overflow error': 1 } }])
})

describe('a spool that cannot be written', () => {
  it('does not have a delivered envelope sent again', async () => {
    accept('a1')
    accept('b1')
    let broken = true
    const failing: Spool = {
      ...spool,
      settle(entry, lost) {
        if (broken) throw new Error('database or disk is full')
        spool.settle(entry, lost)
      },
    }
    const world = deliveryWorld({ spool: failing, database })
    world.service.answerBy(() => TAKEN)
    await world.clock.pass(60_000)
    expect(world.service.names()).toEqual(['a1', 'b1'])
    expect(warnings(world)).toEqual(['the report spool fails; reports wait'])
    broken = false
    await world.clock.pass(2_000)
    expect(world.service.names()).toEqual(['a1', 'b1'])
    expect(spool.size().envelopes).toBe(0)
    expect(world.lines.at(-1)?.message).toBe('the report spool works again')
  })

  it('ends no process, and is tried again', async () => {
    let broken = true
    const kinds = (): readonly string[] => {
      if (broken) throw new Error('disk I/O error')
      return spool.kinds()
    }
    accept('a1')
    const world = deliveryWorld({ spool: { ...spool, kinds }, database })
    await world.clock.pass(5_000)
    expect(world.service.names()).toEqual([])
    broken = false
    await world.clock.pass(1_000)
    expect(world.service.names()).toEqual(['a1'])
  })
})
