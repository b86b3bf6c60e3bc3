import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openReportDatabase } from '../../../src/server/reports/report-database.ts'
import { createSpool } from '../../../src/server/reports/spool/spool-store.ts'
import type { LocalSpool, Spool } from '../../../src/server/reports/spool/spool.ts'
import type { Database } from '../../../src/server/stores/open-database.ts'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'
import { KINDS } from './counted-spool.ts'
import { answered, deliveryWorld, TAKEN, UNREACHABLE, type DeliveryWorld } from './delivery-world.ts'
import { sampleEnvelope, type EnvelopeChoice } from './sample-envelope.ts'

let folder: TempDir
let database: Database
let spool: LocalSpool

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

async function start(): Promise<DeliveryWorld> {
  const world = deliveryWorld({ spool, database })
  await world.clock.pass(0)
  return world
}

const warnings = ({ lines }: DeliveryWorld): string[] =>
  lines.filter(({ level }) => level !== 'info').map(({ message }) => message)

describe('a service that fails', () => {
  it('is tried again after longer and longer pauses, one envelope at a time', async () => {
    for (const eventId of ['a1', 'b1', 'c1', 'd1']) accept(eventId)
    const world = await start()
    world.service.answerBy(() => UNREACHABLE)
    await Promise.all(world.service.arrivals.map((arrival) => arrival.answer(UNREACHABLE)))
    await world.clock.pass(60_000)
    const times = world.service.arrivals.map(({ at }) => at)
    expect(times.slice(0, 4)).toEqual([0, 0, 0, 0])
    const gaps = times.slice(4).map((at, index) => at - (times[index + 3] ?? 0))
    expect(gaps).toEqual([750, 1_500, 3_000, 6_000, 12_000, 24_000])
    expect(warnings(world)).toEqual(['the error service fails; reports wait'])
  })

  it('gets everything in order and once, as soon as it answers', async () => {
    for (const eventId of ['a1', 'a2', 'b1', 'b2']) accept(eventId)
    const world = deliveryWorld({ spool, database })
    world.service.answerBy(() => answered(503))
    await world.clock.pass(10_000)
    const before = world.service.arrivals.length
    const taken: string[] = []
    world.service.answerBy((name) => {
      taken.push(name)
      return TAKEN
    })
    await world.clock.pass(60_000)
    expect(world.service.arrivals.slice(before).map(({ name }) => name)).toEqual(taken)
    expect(taken.toSorted()).toEqual(['a1', 'a2', 'b1', 'b2'])
    expect(taken.indexOf('a1')).toBeLessThan(taken.indexOf('a2'))
    expect(taken.indexOf('b1')).toBeLessThan(taken.indexOf('b2'))
    expect(world.lines.at(-1)?.message).toBe('the error service answers again')
  })

  it('is left alone for as long as it asks', async () => {
    accept('a1')
    const { service, clock } = await start()
    await service.arrivals[0]?.answer(answered(503, { retryAfter: '300' }))
    service.answerBy(() => TAKEN)
    await clock.pass(299_000)
    expect(service.names()).toEqual(['a1'])
    await clock.pass(2_000)
    expect(service.names()).toEqual(['a1', 'a1'])
  })

  it('that asks one client to wait gets the reports of others after a second', async () => {
    accept('a1')
    const { service, clock } = await start()
    service.answerBy((name) => (name === 'a1' ? answered(503, { retryAfter: '300' }) : TAKEN))
    await service.arrivals[0]?.answer(answered(503, { retryAfter: '300' }))
    accept('b1')
    await clock.pass(2_000)
    expect(service.names()).toContain('b1')
  })

  it('that asks one client to wait, and again after that time, does not keep others waiting either', async () => {
    accept('a1')
    const { service, clock } = await start()
    service.answerBy((name) => (name === 'a1' ? answered(503, { retryAfter: '300' }) : TAKEN))
    await service.arrivals[0]?.answer(answered(503, { retryAfter: '300' }))
    await clock.pass(302_000)
    expect(service.names()).toEqual(['a1', 'a1'])
    accept('b1')
    await clock.pass(5_000)
    expect(service.names()).toContain('b1')
  })

  it('that asks two clients to wait in a row is left alone by all', async () => {
    for (const name of ['a1', 'b1', 'c1']) accept(name)
    const { service, clock } = await start()
    service.answerBy((_name) => answered(503, { retryAfter: '300' }))
    for (const arrival of service.arrivals.slice()) await arrival.answer(answered(503, { retryAfter: '300' }))
    accept('d1')
    await clock.pass(5_000)
    const tries = service.names().length
    service.answerBy(() => TAKEN)
    await clock.pass(290_000)
    expect(service.names()).toHaveLength(tries)
    await clock.pass(10_000)
    expect(service.names()).toContain('d1')
  })

  it('asks only one client to wait if it has answered others since', async () => {
    accept('a1')
    const { service, clock } = await start()
    service.answerBy((name) => (name === 'a1' ? answered(503, { retryAfter: '30' }) : TAKEN))
    await service.arrivals[0]?.answer(answered(503, { retryAfter: '30' }))
    accept('b1')
    const tries = (): number => service.names().filter((name) => name === 'a1').length
    for (let seconds = 0; tries() < 3 && seconds < 300; seconds += 1) await clock.pass(1_000)
    expect(tries()).toBe(3)
    accept('b2')
    await clock.pass(5_000)
    expect(service.names()).toContain('b2')
  })
})

it('a failed attempt has the queue of a client with many kinds read no second time', async () => {
  let rows = 0
  const counted: Spool = {
    ...spool,
    list(kind, after, most) {
      const page = spool.list(kind, after, most)
      rows += page.length
      return page
    },
  }
  database.write(() => {
    for (let at = 0; at < 300; at += 1) accept(`a${at}`)
    for (const kind of [...KINDS, ...KINDS, ...KINDS, ...KINDS]) {
      accept('a', { categories: Object.fromEntries(kind.split(',').map((category) => [category, 1])) })
    }
    for (const eventId of ['b1', 'c1', 'd1']) accept(eventId)
  })
  const { envelopes } = spool.size()
  const world = deliveryWorld({ spool: counted, database })
  world.service.answerBy(() => UNREACHABLE)
  // Reading lets the event loop turn more often than one step of the clock does.
  for (let step = 0; step < 300; step += 1) await world.clock.pass(200)
  expect(world.service.arrivals.length).toBeGreaterThan(6)
  expect(new Set(world.service.names())).toEqual(new Set(['a0', 'b1', 'c1', 'd1']))
  expect(rows).toBe(envelopes)
})
