import { describe, expect, it } from 'vitest'
import type { ReportFilter } from '../../../src/server/api/report-inbox.ts'
import type { InboxStore } from '../../../src/server/reports/inbox/inbox-store.ts'
import { openReportDatabase } from '../../../src/server/reports/report-database.ts'
import { createInbox } from '../../../src/server/reports/inbox/inbox-store.ts'
import { inboxPlace, receive } from './inbox-setup.ts'
import { NOW, sampleEnvelope } from './sample-envelope.ts'
import { serializeEnvelope } from '../../../src/server/reports/intake/envelope.ts'

const place = inboxPlace()

const trace = (id: string): object => ({ contexts: { trace: { trace_id: id.repeat(16) } } })

function filled(): InboxStore {
  const inbox = place.open()
  const wheel = { message: 'The Wheel 50% stuck', platform: 'node', transaction: '/mills/[id]', ...trace('ab') }
  receive(inbox, { ...wheel, release: 'r1', tags: { digest: '3f1c9a0b7d52' } }, NOW, 'c'.repeat(32))
  receive(inbox, { message: 'No row', platform: 'javascript', release: 'r1', level: 'warning', ...trace('ab') })
  receive(inbox, { ...wheel, platform: 'javascript', release: 'r2', ...trace('cd') }, NOW + 1)
  receive(inbox, { message: 'Größe ÄÖ', level: 'fatal' })
  return inbox
}

const found = (inbox: InboxStore, filter: ReportFilter): string[] =>
  inbox.list(1, filter).groups.map(({ title }) => title)

const WHEEL = 'The Wheel 50% stuck'

describe('the list of reports', () => {
  it.each<[ReportFilter, string[]]>([
    [{ text: '  ' }, ['Größe ÄÖ', WHEEL, 'No row']],
    [{ side: 'browser' }, [WHEEL, 'No row']],
    [{ side: 'elsewhere' }, ['Größe ÄÖ']],
    [{ level: 'warning' }, ['No row']],
    [{ release: 'r2' }, [WHEEL]],
    // Of one event, not of several of a group.
    [{ release: 'r2', side: 'server' }, []],
    [{ release: 'r1', side: 'server' }, [WHEEL]],
    [{ text: '3f1c9a0b7d52' }, [WHEEL]],
    [{ text: ' 3F1C9A0B7D52 ' }, [WHEEL]],
    [{ text: 'c'.repeat(32) }, [WHEEL]],
    [{ text: 'cccccccc-cccc-cccc-cccc-cccccccccccc' }, [WHEEL]],
    [{ text: 'ab'.repeat(16) }, ['No row', WHEEL]],
    [{ text: 'ab'.repeat(16), side: 'browser' }, ['No row']],
    [{ text: 'ef'.repeat(16) }, []],
    [{ text: 'wheel STUCK' }, [WHEEL]],
    [{ text: 'wheel row' }, []],
    [{ text: '/mills/' }, [WHEEL]],
    [{ text: '50%' }, [WHEEL]],
    [{ text: '%' }, [WHEEL]],
    [{ text: '_' }, []],
    [{ text: 'größe ÄÖ' }, ['Größe ÄÖ']],
    [{ text: "' OR 1=1 --" }, []],
  ])('filtered by %j has %j', (filter, titles) => {
    expect(found(filled(), filter)).toEqual(titles)
  })

  it('leads to the event that fits, and tells levels and releases', async () => {
    const inbox = filled()
    const [group] = inbox.list(1, { text: '3f1c9a0b7d52' }).groups
    expect(group).toMatchObject({ level: 'error', releases: ['r1', 'r2'], count: 2, lastAt: NOW + 1 })
    expect((await inbox.group(group?.id ?? '', group?.item))?.event.digest).toBe('3f1c9a0b7d52')
    expect(inbox.releases()).toEqual(['r1', 'r2'])
  })

  it('finds an event by the id that only its envelope has', () => {
    const inbox = place.open()
    const payload = Buffer.from('{"message":"x"}')
    const items = [{ type: 'event', header: { type: 'event' }, payload }]
    inbox.accept({ ...sampleEnvelope(), body: serializeEnvelope({ header: { event_id: 'd'.repeat(32) }, items }) })
    expect(found(inbox, { text: 'd'.repeat(32) })).toEqual(['x'])
  })

  it('has pages, and the last page for all behind it', () => {
    const inbox = place.open()
    for (let at = 0; at < 101; at += 1) receive(inbox, { fingerprint: [`f${at}`], message: `m${at}` })
    receive(inbox, { message: 'other' })
    expect(inbox.list(2, { text: 'm' })).toMatchObject({ page: 2, pages: 3, total: 101 })
    expect(inbox.list(99, { text: 'm' })).toMatchObject({ page: 3, groups: [{ title: 'm0' }] })
    expect(inbox.list(99, { text: 'nothing' })).toMatchObject({ page: 1, pages: 1, total: 0, groups: [] })
  })

  it('finds the failure of an id, whatever many events of strangers have the id', () => {
    const inbox = place.open()
    receive(inbox, { message: 'The wheel stuck', tags: { digest: '3f1c9a0b7d52' } })
    for (let at = 0; at < 1_100; at += 1) {
      receive(inbox, { message: 'Forged', fingerprint: [`f${at % 3}`], tags: { digest: '3f1c9a0b7d52' } })
    }
    expect(found(inbox, { text: '3f1c9a0b7d52' })).toContain('The wheel stuck')
  })

  it('reads a bounded number of rows, whatever is asked for', () => {
    const database = openReportDatabase(place.folder.path)
    place.opened.push(database)
    const asked: string[] = []
    const inbox = createInbox({ ...database, statement: (sql) => (asked.push(sql), database.statement(sql)) })
    inbox.list(2, { text: 'ab'.repeat(16), side: 'server' })
    inbox.releases()
    const parameters = Object.fromEntries(
      ['side', 'level', 'release', 'text', 'id', 'word0', 'word1', 'word2', 'word3'].map((name) => [name, '']),
    )
    for (const sql of asked) {
      const named = Object.entries({ ...parameters, most: 50, offset: 0 }).filter(([name]) => sql.includes(`:${name}`))
      const steps = database.statement(`EXPLAIN QUERY PLAN ${sql}`).all(Object.fromEntries(named))
      const scans = steps.map(({ detail }) => String(detail)).filter((step) => /^SCAN inbox_(?!totals)/.test(step))
      expect(scans).toEqual([])
    }
    expect(asked.filter((sql) => /LIMIT 900\).*LIMIT 100\)/.test(sql))).toHaveLength(1)
    expect(asked.filter((sql) => sql.includes('- 10000 FROM inbox_items'))).toHaveLength(1)
  })
})
