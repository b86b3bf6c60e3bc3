import { randomBytes } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { joinInTurns } from '../../../src/server/http/body/join-in-turns.ts'
import { createInbox } from '../../../src/server/reports/inbox/inbox-store.ts'
import { SpoolFullError } from '../../../src/server/reports/intake/accepted-envelope.ts'
import { createLargeBodies, PIECE_BYTES } from '../../../src/server/reports/large-bodies.ts'
import { openReportDatabase } from '../../../src/server/reports/report-database.ts'
import { createGroupedSpool } from '../../../src/server/reports/spool/grouped-spool.ts'
import { createSpool } from '../../../src/server/reports/spool/spool-store.ts'
import type { Database } from '../../../src/server/stores/open-database.ts'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'
import { eventEnvelope, NOW, sampleEnvelope } from './sample-envelope.ts'

let folder: TempDir
let database: Database
beforeEach(async () => {
  folder = await makeTempDir('large-bodies')
  database = openReportDatabase(folder.path)
})
afterEach(async () => {
  database.dispose()
  await folder.remove()
})

/** An envelope with an attachment that no coding makes smaller. */
function largeEnvelope(bytes: number, eventId = '1'.repeat(32)) {
  const attachment = randomBytes(bytes)
  const head = Buffer.from(`${JSON.stringify({ type: 'attachment', length: bytes })}\n`)
  const body = Buffer.concat([eventEnvelope(eventId), head, attachment, Buffer.from('\n')])
  return { ...sampleEnvelope({ eventId }), body }
}

function piecesIn(file: Database): number {
  return Number(file.statement('SELECT count(*) AS pieces FROM report_pieces').get()?.['pieces'])
}

/** Counts what one turn of the event loop writes, at most. */
function watchTurns(file: Database): { readonly watched: Database; most(): number } {
  const counts = { turn: 0, most: 0 }
  const watched: Database = {
    ...file,
    statement: (sql) => {
      const statement = file.statement(sql)
      return new Proxy(statement, {
        get(target, name) {
          const member: unknown = Reflect.get(target, name)
          if (typeof member !== 'function') return member
          return (...values: unknown[]): unknown => {
            for (const value of values) if (value instanceof Uint8Array) counts.turn += value.length
            counts.most = Math.max(counts.most, counts.turn)
            setImmediate(() => (counts.turn = 0))
            return (member as (...given: unknown[]) => unknown).apply(target, values)
          }
        },
      })
    },
  }
  return { watched, most: () => counts.most }
}

describe('an envelope of megabytes', () => {
  it('is written to the spool by one piece a turn, and is sent as it came', async () => {
    const { watched, most } = watchTurns(database)
    const spool = createGroupedSpool(createSpool(watched, { destination: 'one' }), watched)
    const envelopes = [largeEnvelope(2_000_000), largeEnvelope(2_000_001, '2'.repeat(32))]
    await Promise.all(envelopes.map((envelope) => spool.accept(envelope)))
    expect(most()).toBeLessThanOrEqual(PIECE_BYTES)
    const entries = await spool.list('error', 0, 10)
    for (const [at, entry] of entries.entries()) {
      expect((await spool.read(entry.id))?.body.equals(envelopes[at]?.body ?? Buffer.alloc(0))).toBe(true)
      await spool.settle(entry)
    }
    expect(entries).toHaveLength(2)
    expect(piecesIn(database)).toBe(0)
  })

  it('is written to the inbox by one piece a turn, and its pieces leave with it', async () => {
    const { watched, most } = watchTurns(database)
    const inbox = createInbox(watched, { bounds: { envelopes: 1, bytes: 100_000_000 } })
    const envelope = largeEnvelope(3_000_000)
    await inbox.take(envelope)
    expect(most()).toBeLessThanOrEqual(PIECE_BYTES)
    expect(inbox.envelope(1)?.equals(envelope.body)).toBe(true)
    expect(inbox.list(1).groups.map(({ title }) => title)).toEqual(['sample'])
    await inbox.take(sampleEnvelope())
    expect(inbox.list(1).envelopes).toBe(1)
    expect(piecesIn(database)).toBe(0)
  })

  it('leaves nothing where there is no room for it', async () => {
    const bounds = { bytes: 1_000_000, ageMs: 60_000 }
    const spool = createGroupedSpool(createSpool(database, { destination: 'one', bounds }), database)
    await expect(async () => await spool.accept(largeEnvelope(2_000_000))).rejects.toThrow(SpoolFullError)
    const inbox = createInbox(database, { bounds: { envelopes: 10, bytes: 1_000_000 } })
    await expect(async () => await inbox.take(largeEnvelope(2_000_000))).rejects.toThrow(SpoolFullError)
    expect(piecesIn(database)).toBe(0)
  })

  it('of a process that ended meanwhile is removed after an hour, and no other', async () => {
    const leave = (): Promise<never> => new Promise(() => undefined)
    void createLargeBodies(database).write(Buffer.alloc(PIECE_BYTES * 2), NOW, leave)
    for (let turn = 0; turn < 20; turn += 1) await nextTurn()
    expect(piecesIn(database)).toBe(2)
    const inbox = createInbox(database)
    await inbox.take({ ...largeEnvelope(PIECE_BYTES), receivedAt: NOW })
    expect(piecesIn(database)).toBe(4)
    await inbox.take({ ...largeEnvelope(PIECE_BYTES), receivedAt: NOW + 3_600_001 })
    expect(piecesIn(database)).toBe(4)
    expect(inbox.envelope(1)).toBeDefined()
    expect(inbox.envelope(2)).toBeDefined()
  })
})

describe('joining in turns', () => {
  it('gives the same bytes as at once, 256 KiB a turn', async () => {
    const parts = [1, 0, 3_000_000, 17, 1_048_576, 5].map((length) => randomBytes(length))
    const turns = { count: 0 }
    const joined = await joinInTurns(parts, () => Promise.resolve((turns.count += 1)))
    expect(joined.equals(Buffer.concat(parts))).toBe(true)
    expect(turns.count).toBe(15)
  })
})
