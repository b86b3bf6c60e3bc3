import { hash } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { INBOX_TABLES } from '../../../src/server/reports/inbox/inbox-tables.ts'
import { createInbox } from '../../../src/server/reports/inbox/inbox-store.ts'
import { openReportDatabase, reportDatabasePath } from '../../../src/server/reports/report-database.ts'
import { createSpool } from '../../../src/server/reports/spool/spool-store.ts'
import { SPOOL_MIGRATIONS } from '../../../src/server/reports/spool/spool-tables.ts'
import { openDatabase, type Database } from '../../../src/server/stores/open-database.ts'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'
import { titles } from './inbox-setup.ts'
import { eventEnvelope, NOW, sampleEnvelope } from './sample-envelope.ts'

let folder: TempDir
let opened: Database[]

beforeEach(async () => {
  folder = await makeTempDir('migration')
  opened = []
})
afterEach(async () => {
  for (const database of opened) database.dispose()
  await folder.remove()
})

/** A file as version 2 of its tables has left it: before there was an account of each client. */
function openFormer(): Database {
  const [first, second] = SPOOL_MIGRATIONS
  const path = reportDatabasePath(folder.path)
  const former = openDatabase({ path, migrations: [first + INBOX_TABLES, second] })
  opened.push(former)
  return former
}

function openCurrent(): Database {
  const database = openReportDatabase(folder.path)
  opened.push(database)
  return database
}

test('tables of released versions are never changed', () => {
  const digests = [...SPOOL_MIGRATIONS, INBOX_TABLES].map((sql) => hash('sha256', sql, 'hex').slice(0, 16))
  expect(digests).toEqual(DIGESTS)
})

test('what waited before is delivered, and counts for its client', () => {
  const former = openFormer()
  const add = former.statement(`INSERT INTO spool
    (id, destination, kind, keep, received_at, client, event_id, categories, bytes, headers, body)
    VALUES (?, 'one', 'error', 1, ${NOW}, ?, ?, '{"error":1}', 1000, '{}', X'78')`)
  for (const [at, client] of ['greedy', 'honest', 'greedy', 'greedy'].entries()) add.run(at + 1, client, `e${at + 1}`)
  former.statement('UPDATE spool_total SET envelopes = 4, bytes = 4000, last_id = 4').run()
  former.dispose()

  const spool = createSpool(openCurrent(), { destination: 'one', bounds: { bytes: 4_000, ageMs: 1_000 } })
  expect(spool.size()).toEqual({ envelopes: 4, bytes: 4_000 })
  spool.accept(sampleEnvelope({ client: 'honest', eventId: 'e5', bytes: 400 }))
  expect(spool.list('error', 0, 10).map(({ eventId }) => eventId)).toEqual(['e2', 'e3', 'e4', 'e5'])
})

test('what was in the inbox before is shown, and goes before what others have sent since', () => {
  const former = openFormer()
  const before = former.statement('INSERT INTO inbox (received_at, bytes) VALUES (?, ?)')
  const body = former.statement('INSERT INTO inbox_bodies (id, body) VALUES (?, ?)')
  const item = former.statement(`INSERT INTO inbox_items
    (envelope, position, received_at, kind, side, group_id, title) VALUES (?, 0, ${NOW}, 'error', 'server', ?, ?)`)
  for (const title of ['one', 'two', 'three']) {
    const bytes = eventEnvelope('0'.repeat(32), { message: title })
    const { lastInsertRowid: id } = before.run(NOW, bytes.length)
    body.run(id, bytes)
    item.run(id, title, title)
  }
  former.dispose()

  const inbox = createInbox(openCurrent(), { bounds: { envelopes: 4, bytes: 1_000_000 } })
  expect(titles(inbox)).toEqual(['three', 'two', 'one'])
  for (const message of ['four', 'five']) {
    inbox.accept({ ...sampleEnvelope({ client: 'new' }), body: eventEnvelope('0'.repeat(32), { message }) })
  }
  expect(titles(inbox)).toEqual(['five', 'four', 'three', 'two'])
})

/** Of today's text. Add to the list; change nothing in it. */
const DIGESTS = ['d2894e0891f8a647', 'bbbdac2c11324ca3', '8f12fa5ed10e6b09']
