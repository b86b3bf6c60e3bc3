import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readEvent } from '../../../src/server/reports/inbox/inbox-event.ts'
import { createInbox, type InboxOptions, type InboxStore } from '../../../src/server/reports/inbox/inbox-store.ts'
import { openReportDatabase } from '../../../src/server/reports/report-database.ts'
import { SpoolFullError } from '../../../src/server/reports/intake/accepted-envelope.ts'
import { inboxPlace, receive, titles } from './inbox-setup.ts'
import { sampleEnvelope } from './sample-envelope.ts'

const place = inboxPlace()
const open = (options?: InboxOptions): InboxStore => place.open(options)

describe('the bounds', () => {
  it('keep the newest envelopes, and nothing of those that have gone', async () => {
    const inbox = open({ bounds: { envelopes: 3, bytes: 1_000_000 } })
    for (const message of ['one', 'two', 'three', 'four']) receive(inbox, { message })
    expect(titles(inbox)).toEqual(['four', 'three', 'two'])
    expect(inbox.list(1).envelopes).toBe(3)
    expect(inbox.envelope(1)).toBeUndefined()
    expect(place.opened[0]?.statement('SELECT count(*) AS rows FROM inbox_bodies').get()?.['rows']).toBe(3)
  })

  it('hold for bytes as well', () => {
    const inbox = open({ bounds: { envelopes: 100, bytes: 2_500 } })
    for (const message of ['one', 'two', 'three']) receive(inbox, { message, extra: 'x'.repeat(900) })
    expect(titles(inbox)).toEqual(['three', 'two'])
    expect(() => inbox.accept(sampleEnvelope({ bytes: 2_501 }))).toThrow(SpoolFullError)
  })

  it('of one event are those of the service: a larger one is kept and said to be too large', () => {
    const inbox = open()
    receive(inbox, { message: 'x'.repeat(1_100_000) })
    expect(titles(inbox)).toEqual([expect.stringMatching(/^An event of 1100\d\d\d bytes, too large to be shown$/)])
  })
})

describe('what comes from outside', () => {
  it('may have any shape', () => {
    const text = fc.oneof(fc.string(), fc.constant(null), fc.double(), fc.object())
    const known = fc.record(
      {
        exception: fc.oneof(
          text,
          fc.record({
            values: fc.array(
              fc.oneof(
                text,
                fc.record({
                  type: text,
                  value: text,
                  stacktrace: fc.oneof(text, fc.record({ frames: fc.array(fc.object()) })),
                }),
              ),
            ),
          }),
        ),
        fingerprint: fc.array(text),
        timestamp: text,
        tags: fc.oneof(text, fc.array(fc.array(text))),
        contexts: fc.oneof(text, fc.record({ trace: fc.oneof(text, fc.record({ trace_id: text })) })),
        message: text,
        transaction: text,
      },
      { requiredKeys: [] },
    )
    const inbox = open()
    fc.assert(
      fc.property(known, (event) => {
        receive(inbox, event)
        expect(titles(inbox)[0]).toEqual(expect.any(String))
      }),
      { numRuns: 150 },
    )
  })

  it('is cut where it is long', () => {
    const long = 'x'.repeat(100_000)
    const frames = Array.from({ length: 1_000 }, () => ({ function: long, filename: long }))
    const values = Array.from({ length: 100 }, () => ({ type: long, value: long, stacktrace: { frames } }))
    const event = readEvent({ exception: { values }, message: long, release: long, tags: { [long]: long } })
    expect(JSON.stringify(event).length).toBeLessThan(250_000)
    expect(event.exceptions).toHaveLength(5)
    expect(event.title.length).toBeLessThan(310)
  })

  it('is refused where the disk cannot be written', async () => {
    const path = join(place.folder.path, 'a file')
    await writeFile(path, '')
    const database = openReportDatabase(path)
    expect(() => createInbox(database).accept(sampleEnvelope())).toThrow(SpoolFullError)
  })
})
