import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { getRequest, requestRaw } from '../support/raw-http.ts'
import { CRASH, newEventId, startReportServer, type ReportItem } from './report-setup.ts'

/** SQLite says the same as on a full disk: `database or disk is full`. */
const SMALL_DISK = 'PRAGMA max_page_count = 60' // 240 kB; the tables take half of it
const LARGE_DISK = 'PRAGMA max_page_count = 1000000'

const LARGE: ReportItem = ['attachment', Buffer.alloc(100_000, 'x')]

const handles: DatabaseSync[] = []

beforeEach(() => {
  const { exec } = DatabaseSync.prototype
  vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (this: DatabaseSync, sql) {
    exec.call(this, sql)
    if (!sql.includes('journal_mode')) return
    exec.call(this, SMALL_DISK)
    handles.push(this)
  })
})
afterEach(() => {
  vi.restoreAllMocks()
  handles.length = 0
})

describe.for([
  ['with a service', {}],
  ['with the inbox', { SENTRY_DSN: '' }],
] as const)('a disk that fills up, %s', ([, environment]) => {
  test('refuses reports with 503 and a time, while pages go on', async () => {
    const { report, port, sink, logs, dataDir } = await startReportServer(environment)
    await sink.close()
    const answers = []
    do answers.push(await report([CRASH, LARGE]))
    while (answers.at(-1)?.status === 200 && answers.length < 10)
    const refusal = answers.at(-1)
    expect(answers.length).toBeGreaterThan(1)
    expect(refusal?.status).toBe(503)
    expect(refusal?.header('retry-after')).toBe('30')
    expect(refusal?.header('x-sentry-rate-limits')).toMatch(/^30::key$/)
    expect(refusal?.text).not.toContain(dataDir)
    expect((await requestRaw(port, getRequest('/'))).status).toBe(200)
    expect((await report([CRASH, LARGE])).status).toBe(503)
    expect((await requestRaw(port, getRequest('/'))).status).toBe(200)
    const told = logs.filter(({ msg }) => msg === 'reports cannot be kept')
    expect(told).toHaveLength(1)
    expect(JSON.stringify(told)).toMatch(/full/)
  })
})

test('a disk with room again takes reports, and all that were accepted arrive once', async () => {
  const { post, envelope, sink } = await startReportServer()
  await sink.close()
  const accepted: string[] = []
  const send = async (): Promise<number> => {
    const id = newEventId()
    const { status } = await post(envelope([CRASH, LARGE], { event_id: id }))
    if (status === 200) accepted.push(id)
    return status
  }
  while ((await send()) === 200) expect(accepted.length).toBeLessThan(10)
  for (const handle of handles) handle.prepare(LARGE_DISK).get()
  expect(await send()).toBe(200)
  await sink.open()
  await sink.until(({ accepted: all }) => all().length === accepted.length)
  expect(sink.requests.map(({ eventId }) => eventId)).toEqual(accepted)
})
