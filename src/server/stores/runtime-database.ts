import { join } from 'node:path'
import { ONCE_CLIENTS, ONCE_TABLE } from './once-store.ts'
import { openDatabase, type Database } from './open-database.ts'
import { RATE_CLIENTS, RATE_TABLE } from './rate-limits.ts'

/**
 * The runtime's own file, `runtime.sqlite`, with the tables of `createOnceStore` and `createRateLimits`.
 * @param dataDir absolute path of `DATA_DIR`.
 */
export function openRuntimeDatabase(dataDir: string): Database {
  return openDatabase({
    path: join(dataDir, 'runtime.sqlite'),
    migrations: [ONCE_TABLE + RATE_TABLE, ONCE_CLIENTS + RATE_CLIENTS],
  })
}
