import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseEnvelope } from '../../../src/server/reports/intake/envelope.ts'
import type { SpoolBounds } from '../../../src/server/reports/spool/spool-room.ts'
import { SpoolFullError, type Awaitable } from '../../../src/server/reports/intake/accepted-envelope.ts'
import { type Spool, type SpooledEntry } from '../../../src/server/reports/spool/spool.ts'
import { NOW, sampleEnvelope } from './sample-envelope.ts'

const ROOMY: SpoolBounds = { bytes: 1_000_000, ageMs: 60_000 }
const BODY = 1_000 - 512 - 'user-agenttest'.length // what it counts for beside its body

async function all(spool: Spool): Promise<SpooledEntry[]> {
  const lists = await Promise.all((await spool.kinds()).map((kind) => spool.list(kind, 0, 1_000)))
  return lists.flat().toSorted((one, other) => one.id - other.id)
}

async function idsOf(spool: Spool): Promise<(string | undefined)[]> {
  return (await all(spool)).map(({ eventId }) => eventId)
}

async function refusalOf(run: () => Awaitable<void>): Promise<unknown> {
  try {
    await run()
    return undefined
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(SpoolFullError)
    return (thrown as SpoolFullError).limit
  }
}

/**
 * What every `Spool` must do.
 * @param opened a spool on one and the same store, empty at the beginning of a test, as each process opens it.
 */
export function spoolContract(opened: (bounds: SpoolBounds, destination: string) => Awaitable<Spool>): void {
  const open = async (bounds = ROOMY, destination = 'one'): Promise<Spool> => opened(bounds, destination)

  describe('an accepted envelope', () => {
    it('is there for every process, byte for byte', async () => {
      const body = randomBytes(50_000)
      await (await open()).accept({ ...sampleEnvelope({ eventId: 'a' }), body })
      const spool = await open()
      const [entry] = await all(spool)
      expect(entry).toMatchObject({ kind: 'error', client: '192.0.2.1', eventId: 'a', categories: { error: 1 } })
      const read = await spool.read(entry?.id ?? 0)
      expect(read?.headers).toEqual({ 'user-agent': 'test' })
      expect(read?.body.equals(body)).toBe(true)
    })

    it('keeps its place in the order, whatever is in it', async () => {
      const spool = await open()
      const kinds = [{ error: 1 }, { transaction: 1 }, { error: 2 }, { session: 1 }]
      for (const [at, categories] of kinds.entries())
        await spool.accept(sampleEnvelope({ eventId: `${at}`, categories }))
      expect(await idsOf(spool)).toEqual(['0', '1', '2', '3'])
      const [first] = (await all(spool)) as [SpooledEntry]
      expect((await spool.list('error', first.id, 10)).map(({ eventId }) => eventId)).toEqual(['2'])
      expect(await spool.list('error', 0, 1)).toHaveLength(1)
      expect(await spool.lastId()).toBe((await all(spool)).at(-1)?.id)
    })

    it('leaves once it is settled, with its bytes', async () => {
      const spool = await open()
      for (const eventId of ['a', 'b']) await spool.accept(sampleEnvelope({ eventId, bytes: BODY }))
      expect(await spool.size()).toEqual({ envelopes: 2, bytes: 2_000 })
      const [first] = (await all(spool)) as [SpooledEntry]
      const newest = await spool.lastId()
      for (const _ of [1, 2]) await spool.settle(first)
      expect(await spool.read(first.id)).toBeUndefined()
      expect(await spool.lastId()).toBe(newest)
      expect(await idsOf(spool)).toEqual(['b'])
      expect(await spool.size()).toEqual({ envelopes: 1, bytes: 1_000 })
      expect(await spool.reportLosses(NOW)).toBeUndefined()
    })

    it('waits for its own destination and is shown to no other', async () => {
      await (await open(ROOMY, 'one')).accept(sampleEnvelope({ eventId: 'a' }))
      const other = await open(ROOMY, 'other')
      expect(await other.kinds()).toEqual([])
      await other.accept(sampleEnvelope({ eventId: 'b' }))
      expect(await idsOf(other)).toEqual(['b'])
      expect(await idsOf(await open(ROOMY, 'one'))).toEqual(['a'])
    })
  })

  describe('where there is no room', () => {
    const four: SpoolBounds = { ...ROOMY, bytes: 4_000 }
    const error = (eventId: string) => sampleEnvelope({ eventId, bytes: BODY })
    const session = (eventId: string) => sampleEnvelope({ eventId, bytes: BODY, categories: { session: 1 } })

    it('the oldest of what is no error goes first, and is counted', async () => {
      const spool = await open(four)
      for (const envelope of [error('e1'), session('s1'), error('e2'), session('s2')]) await spool.accept(envelope)
      await spool.accept(session('s3'))
      expect(await idsOf(spool)).toEqual(['e1', 'e2', 's2', 's3'])
      await spool.accept(error('e3'))
      expect(await idsOf(spool)).toEqual(['e1', 'e2', 's3', 'e3'])
      expect(await spool.reportLosses(NOW)).toEqual({ 'queue_overflow session': 2 })
    })

    it('the oldest error goes only when nothing else is left', async () => {
      const spool = await open(four)
      for (const envelope of [error('e1'), session('s1'), error('e2'), error('e3')]) await spool.accept(envelope)
      await spool.accept(error('e4'))
      await spool.accept(error('e5'))
      expect(await idsOf(spool)).toEqual(['e2', 'e3', 'e4', 'e5'])
      expect(await spool.reportLosses(NOW)).toEqual({ 'queue_overflow error': 1, 'queue_overflow session': 1 })
    })

    it('errors are not driven out by anything else: it is refused, and nothing goes', async () => {
      const spool = await open(four)
      for (const eventId of ['e1', 'e2', 'e3', 'e4']) await spool.accept(error(eventId))
      expect(await refusalOf(() => spool.accept(session('s1')))).toBe('bound')
      expect(await idsOf(spool)).toEqual(['e1', 'e2', 'e3', 'e4'])
      expect(await spool.reportLosses(NOW)).toBeUndefined()
    })

    it('an envelope that would not fit into an empty spool drives nothing out', async () => {
      const spool = await open(four)
      await spool.accept(session('s1'))
      expect(await refusalOf(() => spool.accept(sampleEnvelope({ bytes: 4_000 })))).toBe('bound')
      expect(await idsOf(spool)).toEqual(['s1'])
    })

    it('what was evicted while it was being delivered does not count as lost', async () => {
      const spool = await open(four)
      for (const eventId of ['s1', 's2', 's3', 's4']) await spool.accept(session(eventId))
      const [underWay] = (await all(spool)) as [SpooledEntry]
      await spool.accept(error('e1'))
      expect(await spool.read(underWay.id)).toBeUndefined()
      await spool.settle(underWay)
      expect(await spool.reportLosses(NOW)).toBeUndefined()
    })
  })

  describe('with several clients', () => {
    const of = (client: string, eventId: string, categories: Record<string, number> = { error: 1 }) =>
      sampleEnvelope({ client, eventId, bytes: BODY, categories })
    const session = { session: 1 }
    const eight: SpoolBounds = { ...ROOMY, bytes: 8_000 }

    it('the one that holds most makes room, whoever has sent last, and the others lose nothing', async () => {
      const spool = await open(eight)
      for (const each of ['h1', 'h2']) await spool.accept(of('honest', each))
      for (let at = 1; at <= 20; at += 1) await spool.accept(of('greedy', `g${at}`))
      expect(await idsOf(spool)).toEqual(['h1', 'h2', 'g15', 'g16', 'g17', 'g18', 'g19', 'g20'])
      for (const each of ['h3', 'h4']) await spool.accept(of('honest', each))
      expect(await idsOf(spool)).toEqual(['h1', 'h2', 'g17', 'g18', 'g19', 'g20', 'h3', 'h4'])
      expect(await spool.reportLosses(NOW)).toEqual({ 'queue_overflow error': 16 })
    })

    it('sessions of one that holds little outlive errors of one that holds most', async () => {
      const spool = await open(eight)
      await spool.accept(of('honest', 'h1', session))
      for (let at = 1; at <= 10; at += 1) await spool.accept(of('greedy', `g${at}`))
      expect(await idsOf(spool)).toEqual(['h1', 'g4', 'g5', 'g6', 'g7', 'g8', 'g9', 'g10'])
    })

    it('of the one that holds most, sessions go before errors', async () => {
      const spool = await open(eight)
      for (const each of ['h1', 'h2', 'h3']) await spool.accept(of('honest', each, session))
      await spool.accept(of('greedy', 'g1'))
      for (const each of ['g2', 'g3']) await spool.accept(of('greedy', each, session))
      for (const each of ['g4', 'g5', 'g6', 'g7']) await spool.accept(of('greedy', each))
      expect(await idsOf(spool)).toEqual(['h1', 'h2', 'h3', 'g1', 'g4', 'g5', 'g6', 'g7'])
      await spool.accept(of('greedy', 'g8'))
      expect(await idsOf(spool)).toEqual(['h1', 'h2', 'h3', 'g4', 'g5', 'g6', 'g7', 'g8'])
    })

    it('a session of one that holds most drives out nothing of others: it is refused', async () => {
      const spool = await open(eight)
      for (const each of ['h1', 'h2']) await spool.accept(of('honest', each, session))
      for (let at = 1; at <= 6; at += 1) await spool.accept(of('greedy', `g${at}`))
      expect(await refusalOf(() => spool.accept(of('greedy', 'g7', session)))).toBe('bound')
      expect(await idsOf(spool)).toEqual(['h1', 'h2', 'g1', 'g2', 'g3', 'g4', 'g5', 'g6'])
      expect(await spool.reportLosses(NOW)).toBeUndefined()
    })

    it('a large envelope drives out nothing of those that hold less', async () => {
      const spool = await open(eight)
      for (let at = 1; at <= 8; at += 1) await spool.accept(of(`honest ${at}`, `h${at}`))
      const large = sampleEnvelope({ client: 'greedy', eventId: 'g1', bytes: 4 * BODY })
      expect(await refusalOf(() => spool.accept(large))).toBe('bound')
      expect(await idsOf(spool)).toHaveLength(8)
    })

    it('one that holds most from many addresses leaves each of the others what it has', async () => {
      const spool = await open({ ...ROOMY, bytes: 40_000 })
      await spool.accept(of('honest', 'h1'))
      for (let at = 0; at < 200; at += 1) await spool.accept(of(`greedy ${at % 20}`, `g${at}`))
      await spool.accept(of('late', 'l1'))
      const ids = await idsOf(spool)
      expect(ids).toHaveLength(40)
      expect(ids).toEqual(expect.arrayContaining(['h1', 'l1']))
    })

    it('none holds more than its share, though there is room', async () => {
      const spool = await open({ ...eight, clientBytes: 4_000 })
      for (const each of ['h1', 'h2']) await spool.accept(of('honest', each))
      for (let at = 1; at <= 5; at += 1) await spool.accept(of('greedy', `g${at}`))
      expect(await idsOf(spool)).toEqual(['h1', 'h2', 'g2', 'g3', 'g4', 'g5'])
      expect(await refusalOf(() => spool.accept(of('greedy', 's1', session)))).toBe('bound')
      expect(await spool.reportLosses(NOW)).toEqual({ 'queue_overflow error': 1 })
    })

    it('what one has delivered counts for it no more', async () => {
      const spool = await open({ ...eight, clientBytes: 4_000 })
      for (let at = 1; at <= 4; at += 1) await spool.accept(of('one', `a${at}`))
      for (const entry of await all(spool)) await spool.settle(entry)
      for (let at = 1; at <= 4; at += 1) await spool.accept(of('one', `b${at}`))
      expect(await idsOf(spool)).toEqual(['b1', 'b2', 'b3', 'b4'])
      await spool.expire(NOW + ROOMY.ageMs, () => 'network_error')
      for (let at = 1; at <= 4; at += 1) await spool.accept(of('one', `c${at}`))
      expect(await idsOf(spool)).toEqual(['c1', 'c2', 'c3', 'c4'])
    })
  })

  describe('an envelope that has waited too long', () => {
    it('goes, and is counted by what has held it up', async () => {
      const spool = await open()
      await spool.accept(sampleEnvelope({ eventId: 'old', receivedAt: NOW }))
      await spool.accept(sampleEnvelope({ eventId: 'held', receivedAt: NOW, categories: { transaction: 1, span: 3 } }))
      await spool.accept(sampleEnvelope({ eventId: 'young', receivedAt: NOW + 1 }))
      const reason = (kind: string) => (kind === 'transaction,span' ? 'ratelimit_backoff' : 'network_error')
      expect(await spool.expire(NOW + ROOMY.ageMs - 1, reason)).toBe(0)
      expect(await spool.expire(NOW + ROOMY.ageMs, reason)).toBe(2)
      expect(await idsOf(spool)).toEqual(['young'])
      expect(await spool.reportLosses(NOW)).toEqual({
        'network_error error': 1,
        'ratelimit_backoff span': 3,
        'ratelimit_backoff transaction': 1,
      })
    })

    it('is let go in steps, so that nothing else has to wait', async () => {
      const spool = await open()
      for (let at = 0; at < 600; at += 1) await spool.accept(sampleEnvelope())
      const later = NOW + ROOMY.ageMs
      const counts: number[] = []
      for (const _ of [1, 2, 3]) counts.push(await spool.expire(later, () => 'network_error'))
      expect(counts).toEqual([512, 88, 0])
    })
  })

  describe('what was lost', () => {
    it('is told to the service in one client report, once', async () => {
      const spool = await open()
      for (const categories of [
        { error: 2, attachment: 1 },
        { error: 1, internal: 1 },
      ]) {
        await spool.accept(sampleEnvelope({ categories }))
      }
      for (const entry of await all(spool)) await spool.settle(entry, 'send_error')
      await spool.reportLosses(NOW + 500)
      expect(await spool.reportLosses(NOW)).toBeUndefined()
      const [report] = (await all(spool)) as [SpooledEntry]
      expect(report).toMatchObject({ kind: 'internal', categories: { internal: 1 } })
      const [item] = parseEnvelope((await spool.read(report.id))?.body ?? Buffer.alloc(0)).items
      expect(item?.type).toBe('client_report')
      expect(JSON.parse(String(item?.payload))).toEqual({
        timestamp: NOW / 1_000 + 0.5,
        discarded_events: [
          { reason: 'send_error', category: 'attachment', quantity: 1 },
          { reason: 'send_error', category: 'error', quantity: 3 },
        ],
      })
    })

    it('while a report of it was written is told the next time', async () => {
      const spool = await open({ ...ROOMY, bytes: 1_000 })
      for (const _ of [1, 2]) await spool.accept(sampleEnvelope({ bytes: BODY }))
      expect(await spool.reportLosses(NOW)).toEqual({ 'queue_overflow error': 1 })
      await spool.accept(sampleEnvelope({ bytes: BODY }))
      expect(await spool.reportLosses(NOW)).toEqual({ 'queue_overflow error': 1 })
    })
  })

  it('nothing disappears: whatever was accepted is waiting, delivered or counted', async () => {
    const step = fc.oneof(
      { weight: 5, arbitrary: fc.record({ do: fc.constant('accept'), error: fc.boolean(), bytes: fc.nat(1_500) }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('deliver'), at: fc.nat(20) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('expire'), after: fc.nat(120) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('report') }) },
    )
    const spool = await open({ bytes: 8_000, ageMs: 100 })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        for (const entry of await all(spool)) await spool.settle(entry)
        await spool.reportLosses(NOW)
        for (const entry of await all(spool)) await spool.settle(entry)
        const sum = { accepted: 0, delivered: 0, lost: 0 }
        const tally = (losses = {}): number => Object.values<number>(losses).reduce((total, each) => total + each, 0)
        for (const [at, each] of steps.entries()) {
          if ('error' in each) {
            const categories: Record<string, number> = each.error ? { error: 1 } : { session: 1 }
            const envelope = sampleEnvelope({ categories, bytes: each.bytes, receivedAt: NOW + at })
            if ((await refusalOf(() => spool.accept(envelope))) === undefined) sum.accepted += 1
          } else if ('at' in each) {
            const entry = (await all(spool)).filter(({ kind }) => kind !== 'internal').at(each.at)
            if (entry === undefined) continue
            await spool.settle(entry)
            sum.delivered += 1
          } else if ('after' in each) await spool.expire(NOW + each.after, () => 'network_error')
          else sum.lost += tally(await spool.reportLosses(NOW + at))
        }
        sum.lost += tally(await spool.reportLosses(NOW + 100))
        const waiting = await all(spool)
        expect(waiting.filter(({ kind }) => kind !== 'internal').length + sum.delivered + sum.lost).toBe(sum.accepted)
        const bytes = waiting.reduce((total, entry) => total + entry.bytes, 0)
        expect(await spool.size()).toEqual({ envelopes: waiting.length, bytes })
      }),
      { numRuns: 60 },
    )
  })
}
