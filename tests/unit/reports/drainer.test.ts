import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openReportDatabase } from '../../../src/server/reports/report-database.ts'
import { createSpool } from '../../../src/server/reports/spool/spool-store.ts'
import type { LocalSpool } from '../../../src/server/reports/spool/spool.ts'
import type { Database } from '../../../src/server/stores/open-database.ts'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'
import { answered, deliveryWorld, settled, TAKEN, UNREACHABLE, type DeliveryWorld } from './delivery-world.ts'
import { eventEnvelope, NOW, sampleEnvelope, type EnvelopeChoice } from './sample-envelope.ts'

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

const transaction: EnvelopeChoice = { categories: { transaction: 1 } }
const warnings = ({ lines }: DeliveryWorld): string[] =>
  lines.filter(({ level }) => level !== 'info').map(({ message }) => message)

describe('delivery', () => {
  it('begins with what was left by the process before, headers included', async () => {
    accept('a1', { headers: { referer: 'https://example.com/' } })
    const { service } = await start()
    expect(service.names()).toEqual(['a1'])
    expect(service.arrivals[0]?.headers).toEqual({ referer: 'https://example.com/' })
    await service.arrivals[0]?.answer(TAKEN)
    expect(spool.size().envelopes).toBe(0)
  })

  it('keeps the order of each client, and does not let one wait for another', async () => {
    for (const eventId of ['a1', 'a2', 'b1', 'a3', 'b2']) accept(eventId)
    const { service } = await start()
    expect(service.names()).toEqual(['a1', 'b1'])
    await service.arrivals[1]?.answer(TAKEN)
    expect(service.names()).toEqual(['a1', 'b1', 'b2'])
    await service.arrivals[0]?.answer(TAKEN)
    expect(service.names()).toEqual(['a1', 'b1', 'b2', 'a2'])
  })

  it('begins at once when something was accepted', async () => {
    const { service, drainer } = await start()
    accept('a1')
    drainer.wake()
    await settled()
    expect(service.names()).toEqual(['a1'])
  })

  it('notices within a second what another process has accepted', async () => {
    const { service, clock } = await start()
    accept('a1')
    await clock.pass(1_000)
    expect(service.names()).toEqual(['a1'])
  })

  it('has no more than sixteen envelopes under way', async () => {
    for (let at = 0; at < 40; at += 1) accept(String.fromCodePoint(0x100 + at))
    const { service } = await start()
    expect(service.arrivals).toHaveLength(16)
    await service.arrivals[3]?.answer(TAKEN)
    expect(service.arrivals).toHaveLength(17)
  })

  it('has no more bytes under way than memory can bear, and always one envelope', async () => {
    spool = createSpool(database, { destination: 'one' })
    for (const eventId of ['a1', 'b1', 'c1']) {
      const body = eventEnvelope(eventId, { message: 'x'.repeat(17_000_000) })
      spool.accept({ ...sampleEnvelope({ eventId, client: eventId }), body })
    }
    const { service } = await start()
    expect(service.names()).toEqual(['a1', 'b1'])
    await service.arrivals[0]?.answer(TAKEN)
    expect(service.names()).toEqual(['a1', 'b1', 'c1'])
  })

  it('brings everything, however much one client has sent', async () => {
    for (let at = 0; at < 400; at += 1) accept(`a${at}`, at % 3 === 0 ? transaction : {})
    for (let at = 0; at < 400; at += 1) accept(`b${at}`, at % 2 === 0 ? transaction : {})
    const world = deliveryWorld({ spool, database })
    world.service.answerBy(() => TAKEN)
    await world.clock.pass(0)
    while (spool.size().envelopes > 0) await settled()
    const of = (client: string): string[] => world.service.names().filter((name) => name.startsWith(client))
    for (const client of ['a', 'b']) {
      expect(of(client)).toEqual(Array.from({ length: 400 }, (_, at) => `${client}${at}`))
    }
  })
})

describe('a rate limit of the service', () => {
  it('holds back envelopes of its categories only, and only until it is over', async () => {
    const { service, clock, drainer } = await start()
    accept('a1', transaction)
    drainer.wake()
    await settled()
    await service.arrivals[0]?.answer(answered(200, { rateLimits: '60:transaction:organization' }))
    accept('b1', transaction)
    accept('c1')
    accept('d1', { categories: { transaction: 1, error: 1 } })
    service.answerBy(() => TAKEN)
    await clock.pass(59_000)
    expect(service.names()).toEqual(['a1', 'c1', 'd1'])
    await clock.pass(2_000)
    expect(service.names()).toEqual(['a1', 'c1', 'd1', 'b1'])
  })

  it('keeps the envelope that was answered with 429, and sends it again', async () => {
    accept('a1')
    accept('a2')
    const world = await start()
    await world.service.arrivals[0]?.answer(answered(429, { rateLimits: '30:error:key', retryAfter: '30' }))
    world.service.answerBy(() => TAKEN)
    await world.clock.pass(29_000)
    expect(world.service.names()).toEqual(['a1'])
    await world.clock.pass(2_000)
    expect(world.service.names()).toEqual(['a1', 'a1', 'a2'])
    expect(warnings(world)).toEqual([])
  })

  it('that names other categories than those it has refused is not run against', async () => {
    accept('a1')
    const world = await start()
    world.service.answerBy(() => answered(429, { rateLimits: '30:session:key' }))
    await world.service.arrivals[0]?.answer(answered(429, { rateLimits: '30:session:key' }))
    await world.clock.pass(59_000)
    expect(world.service.names()).toEqual(['a1'])
  })

  it('does not hold back others behind thousands that wait', async () => {
    for (let at = 0; at < 600; at += 1) accept(`t${at}`, { ...transaction, client: `t${at}` })
    accept('e1')
    const { service } = await start()
    service.answerBy((name) => (name === 'e1' ? TAKEN : undefined))
    await service.arrivals[0]?.answer(answered(429, { rateLimits: '600:transaction:key' }))
    expect(service.names()).toContain('e1')
  })
})

describe('an envelope that the service refuses', () => {
  it.each([400, 413, 403, 422])('with %i leaves the queue, is logged once, and holds nobody up', async (status) => {
    accept('a1')
    accept('a2')
    const world = await start()
    world.service.answerBy((name) => (name === 'a1' ? answered(status) : TAKEN))
    await world.service.arrivals[0]?.answer(answered(status))
    await world.clock.pass(300_000)
    expect(world.service.names().filter((name) => name !== 'client_report')).toEqual(['a1', 'a2'])
    expect(spool.size().envelopes).toBe(0)
    const refusals = world.lines.filter(({ message }) => message.includes('given up'))
    expect(refusals).toHaveLength(1)
    expect(refusals[0]?.detail).toMatchObject({ eventId: 'a1', status, categories: { error: 1 } })
  })

  it('with 413 is counted as lost, as the SDK does; what else it refuses the service counts itself', async () => {
    accept('a1')
    accept('b1')
    const world = await start()
    world.service.answerBy(() => TAKEN)
    await world.service.arrivals[0]?.answer(answered(413))
    await world.service.arrivals[1]?.answer(answered(400))
    await world.clock.pass(60_000)
    expect(world.service.names()).toEqual(['a1', 'b1', 'client_report'])
    const lost = world.lines.filter(({ message }) => message === 'reports were lost')
    expect(lost.map(({ detail }) => detail)).toEqual([{ losses: { 'send_error error': 1 } }])
    // The report of the loss is one that was delivered.
    expect(world.counts.envelopes).toMatchObject({ 'given-up': 2, delivered: 1 })
    expect(world.counts.lost).toMatchObject({ send_error: 1, queue_overflow: 0 })
  })

  it('by failing each time is given up in the end, and the others go on meanwhile', async () => {
    accept('a1')
    accept('a2')
    const world = deliveryWorld({ spool, database })
    world.service.answerBy((name) => (name === 'a1' ? answered(500) : TAKEN))
    for (let minute = 0; minute < 40; minute += 1) {
      accept(`b${minute}`)
      await world.clock.pass(60_000)
      expect(world.service.names()).toContain(`b${minute}`)
    }
    expect(world.service.names()).toContain('a2')
    expect(world.lines.filter(({ message }) => message.includes('given up'))).toHaveLength(1)
    expect(world.service.names()).toContain('client_report')
  })

  it.each([2, 64])('by failing for %i clients does not stop the others', async (failing) => {
    for (let client = 0; client < failing; client += 1) accept(`x${client}`, { client: `failing ${client}` })
    const random = { seed: 1 }
    const world = deliveryWorld({
      spool,
      database,
      random: () => (random.seed = (random.seed * 16_807) % 2_147_483_647) / 2_147_483_647,
    })
    world.service.answerBy((name) => (name.startsWith('x') ? answered(503) : TAKEN))
    for (let minute = 0; minute < 20; minute += 1) {
      accept(`b${minute}`, { client: `honest ${minute}` })
      await world.clock.pass(60_000)
    }
    await world.clock.pass(600_000)
    const arrived = world.service.arrivals.filter(({ name }) => name.startsWith('b'))
    const delays = arrived.map(({ name, at }) => at - 60_000 * Number(name.slice(1)))
    expect(arrived).toHaveLength(20)
    // Once it is known on which it fails, nobody waits for these.
    expect(Math.max(...delays.slice(14))).toBeLessThan(5_000)
  })
})

describe('several processes', () => {
  it('deliver by one of them; another takes over when it is gone', async () => {
    const one = await start()
    const otherDatabase = openReportDatabase(folder.path)
    const other = deliveryWorld({
      spool: createSpool(otherDatabase, { destination: 'one' }),
      database: otherDatabase,
      owner: 'other',
      clock: one.clock,
    })
    other.service.answerBy(() => TAKEN)
    one.service.answerBy(() => TAKEN)
    accept('a1')
    await one.clock.pass(20_000)
    expect([one.service.names(), other.service.names()]).toEqual([['a1'], []])
    await one.drainer.stop(new AbortController().signal)
    accept('a2')
    await one.clock.pass(1_000)
    expect([one.service.names(), other.service.names()]).toEqual([['a1'], ['a2']])
    otherDatabase.dispose()
  })

  it('take over from one elsewhere that has died without a word, five seconds later', async () => {
    database
      .statement('INSERT INTO spool_leases (destination, owner, expires_at) VALUES (?, ?, ?)')
      .run('one', 'dead', NOW + 5_000)
    accept('a1')
    const { service, clock } = await start()
    await clock.pass(4_000)
    expect(service.names()).toEqual([])
    await clock.pass(2_000)
    expect(service.names()).toEqual(['a1'])
  })

  it('are not locked out by a clock that was set back', async () => {
    database
      .statement('INSERT INTO spool_leases (destination, owner, expires_at) VALUES (?, ?, ?)')
      .run('one', 'dead', NOW + 86_400_000)
    accept('a1')
    const { service } = await start()
    expect(service.names()).toEqual(['a1'])
  })
})

describe('stopping', () => {
  const patient = (): AbortSignal => new AbortController().signal

  it('delivers what waits, and says so', async () => {
    for (const eventId of ['a1', 'a2', 'a3']) accept(eventId)
    const { service, drainer } = await start()
    service.answerBy(() => TAKEN)
    const stopped = drainer.stop(patient())
    await service.arrivals[0]?.answer(TAKEN)
    expect(await stopped).toBe(true)
    expect(service.names()).toEqual(['a1', 'a2', 'a3'])
    expect(spool.size().envelopes).toBe(0)
  })

  it('does not wait for a service that fails: what waits is sent by the next process', async () => {
    accept('a1')
    const { service, drainer } = await start()
    await service.arrivals[0]?.answer(UNREACHABLE)
    expect(await drainer.stop(patient())).toBe(false)
    const next = deliveryWorld({ spool, database, owner: 'next' })
    next.service.answerBy(() => TAKEN)
    await next.clock.pass(0)
    expect(next.service.names()).toEqual(['a1'])
  })

  it('breaks off what is under way when the time is over, and keeps it', async () => {
    accept('a1')
    const { service, drainer } = await start()
    const grace = new AbortController()
    const stopped = drainer.stop(grace.signal)
    grace.abort()
    expect(await stopped).toBe(false)
    expect(service.arrivals[0]?.signal.aborted).toBe(true)
    await settled()
    expect(spool.size().envelopes).toBe(1)
  })

  it('may be asked for twice, and more urgently', async () => {
    accept('a1')
    const { drainer } = await start()
    const stopped = drainer.stop(patient())
    const now = drainer.stop(AbortSignal.abort())
    expect(await Promise.all([stopped, now])).toEqual([false, false])
  })

  it('tells the service before it ends what was lost', async () => {
    const world = await start()
    world.service.answerBy((name) => (name === 'a1' ? answered(413) : TAKEN))
    accept('a1')
    expect(await world.drainer.stop(patient())).toBe(true)
    expect(world.service.names()).toEqual(['a1', 'client_report'])
  })
})
