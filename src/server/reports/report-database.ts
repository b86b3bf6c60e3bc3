import { join } from 'node:path'
import { openDatabase, type Database } from '../stores/open-database.ts'
import { CLIENT_TABLES } from './client-tables.ts'
import { SPOOL_MIGRATIONS } from './spool/spool-tables.ts'
import { GROUP_TABLES, INBOX_TABLES } from './inbox/inbox-tables.ts'

/**
 * 64 MiB of log. Under load a thread brings it into the file long before (`checkpoint-thread.ts`); what that has left is
 * then little. Most of what is written has been delivered and deleted before it would have to reach the file.
 */
const CHECKPOINT_PAGES = 16_000

/** Where `reports.sqlite` is. @param dataDir absolute path of `DATA_DIR`. */
export function reportDatabasePath(dataDir: string): string {
  return join(dataDir, 'reports.sqlite')
}

/**
 * `reports.sqlite`: the spool and the inbox. A commit here outlives `kill -9`. It is not forced to the disk each time
 * (`synchronous = NORMAL`, see `open-database.ts`): a power cut may take the reports of the last moments, which would
 * cost every accepted envelope some milliseconds of the event loop to prevent.
 * @param dataDir absolute path of `DATA_DIR`.
 */
export function openReportDatabase(dataDir: string): Database {
  const [first, ...later] = SPOOL_MIGRATIONS
  const migrations = [first + INBOX_TABLES, ...later, CLIENT_TABLES, GROUP_TABLES]
  return openDatabase({ path: reportDatabasePath(dataDir), migrations, checkpointPages: CHECKPOINT_PAGES })
}
