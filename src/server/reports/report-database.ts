import { join } from 'node:path'
import { openOwnDatabase, type Database } from '../stores/open-database.ts'
import { INBOX_TABLES } from './inbox/inbox-tables.ts'
import { LARGE_BODY_TABLES } from './large-bodies.ts'
import { SPOOL_TABLES } from './spool/spool-tables.ts'

/**
 * 64 MiB of log. Under load a thread runs checkpoints long before this (`checkpoint-thread.ts`). Most rows are
 * delivered and deleted before they would have to reach the file.
 */
const CHECKPOINT_PAGES = 16_000

/** Where `reports.sqlite` is. @param dataDir absolute path of `DATA_DIR`. */
export function reportDatabasePath(dataDir: string): string {
  return join(dataDir, 'reports.sqlite')
}

/**
 * `reports.sqlite`: the spool and the inbox. A commit here survives `kill -9`. It is not synced to disk each time
 * (`synchronous = NORMAL`, see `open-database.ts`): a power cut may lose the latest reports. Preventing that would cost
 * some milliseconds of the event loop for every accepted envelope.
 * @param dataDir absolute path of `DATA_DIR`.
 */
export function openReportDatabase(dataDir: string): Database {
  const migrations = [SPOOL_TABLES + INBOX_TABLES, LARGE_BODY_TABLES]
  return openOwnDatabase({ path: reportDatabasePath(dataDir), migrations, checkpointPages: CHECKPOINT_PAGES })
}
