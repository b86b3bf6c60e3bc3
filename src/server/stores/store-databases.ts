import { join } from 'node:path'
import { openOwnDatabase, type Database } from './open-database.ts'
import { storeAccounts, storeTables } from './store-tables.ts'

/**
 * The runtime's own file, `runtime.sqlite`, for stores of limits and calls.
 * @param dataDir absolute path of `DATA_DIR`.
 */
export function openRuntimeDatabase(dataDir: string): Database {
  return openOwnDatabase({
    path: join(dataDir, 'runtime.sqlite'),
    migrations: [storeTables('limits') + storeTables('calls'), storeAccounts('limits') + storeAccounts('calls')],
  })
}

/**
 * `sessions.sqlite`, for a store of sessions: a file of its own, because they outlive what the other may lose.
 * @param dataDir absolute path of `DATA_DIR`.
 */
export function openSessionDatabase(dataDir: string): Database {
  return openOwnDatabase({
    path: join(dataDir, 'sessions.sqlite'),
    migrations: [storeTables('sessions'), storeAccounts('sessions')],
  })
}
