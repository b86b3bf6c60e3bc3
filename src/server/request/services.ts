import { resolve } from 'node:path'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { openSecrets, type Secrets } from '../secrets/secrets.ts'
import { createOnceStore, type OnceStore } from '../stores/once-store.ts'
import type { Database } from '../stores/open-database.ts'
import { createRateLimits, type RateLimits } from '../stores/rate-limits.ts'
import { openRuntimeDatabase } from '../stores/runtime-database.ts'

/** What all requests of a server share, and its applications reach by a request's context. */
export interface RequestServices {
  /** Absolute path of the folder of the embedded stores. */
  readonly dataDir: string
  readonly secrets: Secrets
  readonly limits: RateLimits
  /** Calls of actions that have run. */
  readonly once: OnceStore
  /** Closes the stores. */
  dispose(): void
}

/** Makes the services of a server. Nothing is opened or written before somebody asks for it. */
export function createServices(config: Pick<Config, 'dataDir' | 'secretKeys'>, log: Logger): RequestServices {
  const dataDir = resolve(config.dataDir)
  const secrets = openSecrets({ secretKeys: config.secretKeys, dataDir }, log)
  const opened: { database?: Database; limits?: RateLimits; once?: OnceStore } = {}
  const database = (): Database => (opened.database ??= openRuntimeDatabase(dataDir))
  return {
    dataDir,
    secrets,
    get limits() {
      return (opened.limits ??= createRateLimits(database()))
    },
    get once() {
      return (opened.once ??= createOnceStore(database()))
    },
    dispose() {
      opened.database?.dispose()
    },
  }
}
