import { join } from 'node:path'
import { IDEMPOTENCY_CLIENTS, IDEMPOTENCY_TABLE } from './idempotency-store.ts'
import { openDatabase, type Database } from './open-database.ts'
import { RATE_CLIENTS, RATE_TABLE } from './rate-limits.ts'

/**
 * The runtime's own file, `runtime.sqlite`, with the tables of `createIdempotencyStore` and `createRateLimits`.
 * @param dataDir absolute path of `DATA_DIR`.
 */
export function openRuntimeDatabase(dataDir: string): Database {
  return openDatabase({
    path: join(dataDir, 'runtime.sqlite'),
    migrations: [IDEMPOTENCY_TABLE + RATE_TABLE, IDEMPOTENCY_CLIENTS + RATE_CLIENTS],
  })
}
