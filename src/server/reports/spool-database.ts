import { join } from 'node:path'
import { openDatabase, type Database } from '../stores/open-database.ts'
import { INBOX_TABLES } from './inbox-tables.ts'
import { SPOOL_TABLES } from './spool-tables.ts'

/** 16 MiB of log. Most of what is written has been delivered and deleted before it would have to reach the file. */
const CHECKPOINT_PAGES = 4_000

/**
 * `reports.sqlite`: the spool and the inbox. A commit here outlives `kill -9`. It is not forced to the disk each time
 * (`synchronous = NORMAL`, see `open-database.ts`): a power cut may take the reports of the last moments, which would
 * cost every accepted envelope some milliseconds of the event loop to prevent.
 * @param dataDir absolute path of `DATA_DIR`.
 */
export function openReportDatabase(dataDir: string): Database {
  const migrations = [SPOOL_TABLES + INBOX_TABLES]
  return openDatabase({ path: join(dataDir, 'reports.sqlite'), migrations, checkpointPages: CHECKPOINT_PAGES })
}
