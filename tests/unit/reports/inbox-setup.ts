import { afterEach, beforeEach } from 'vitest'
import { createInbox, type InboxOptions, type InboxStore } from '../../../src/server/reports/inbox/inbox-store.ts'
import { openReportDatabase } from '../../../src/server/reports/report-database.ts'
import type { Database } from '../../../src/server/stores/open-database.ts'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'
import { eventEnvelope, NOW, sampleEnvelope } from './sample-envelope.ts'

/** What the inboxes of one test are in. */
interface InboxPlace {
  /** Of the test that runs. */
  readonly folder: TempDir
  /** In the order in which they were opened. They are closed with the test. */
  readonly opened: Database[]
  open(options?: InboxOptions): InboxStore
}

/** Gives each test of the file a place of its own. */
export function inboxPlace(): InboxPlace {
  const state: { folder: TempDir | undefined; opened: Database[] } = { folder: undefined, opened: [] }
  beforeEach(async () => {
    Object.assign(state, { folder: await makeTempDir('inbox'), opened: [] })
  })
  afterEach(async () => {
    for (const database of state.opened) database.dispose()
    await state.folder?.remove()
  })
  return {
    get folder() {
      if (state.folder === undefined) throw new Error('No test is running')
      return state.folder
    },
    get opened() {
      return state.opened
    },
    open(options = {}) {
      const database = openReportDatabase(this.folder.path)
      state.opened.push(database)
      return createInbox(database, options)
    },
  }
}

/** Puts an event into an inbox. */
export function receive(inbox: InboxStore, event: object, receivedAt = NOW, eventId = '0'.repeat(32)): void {
  inbox.accept({ ...sampleEnvelope({ eventId, receivedAt }), body: eventEnvelope(eventId, event) })
}

/** Titles of the groups on the first page. */
export const titles = (inbox: InboxStore): string[] => inbox.list(1).groups.map(({ title }) => title)
