/** Exports the application with which it was built. The command `millrace export` loads it; nothing listens for visitors. */
import { join, resolve } from 'node:path'
import { pino } from 'pino'
import application from 'millrace:app'
import { openBuiltApp, readManifest } from './built-app.ts'
import { ConfigError, readConfig } from './config/config.ts'
import { configFault } from './config/variable-origin.ts'
import { exportApplication } from './export/export-application.ts'
import { ExportError } from './export/export-error.ts'
import type { ExportEntry } from './export/export-outcome.ts'
import { FolderFault } from './export/site-folder.ts'
import { mainOrigin } from './http/public-origins.ts'

const HOST = 'localhost' // without ORIGIN
const STDERR = 2
const END_LIMIT_MS = 5_000

/** See `ExportEntry`. */
export const exportSite: ExportEntry['exportSite'] = async ({ folder, ...options }) => {
  try {
    const manifest = readManifest()
    // What a page logs at each request is of no interest; its failures are.
    const config = readConfig({ LOG_LEVEL: 'warn', ...process.env })
    const logDestination = pino.destination({ fd: STDERR, sync: true })
    const built = await openBuiltApp(manifest, { config, logDestination, forFiles: true })
    const origin = mainOrigin(config.origins)
    try {
      await built.app.life.start()
      const report = await exportApplication({
        ...options,
        app: built.app,
        definition: application,
        manifest,
        assets: join(import.meta.dirname, '../public'),
        host: origin === undefined ? HOST : new URL(origin).host,
        folder: resolve(folder),
      })
      return { kind: 'exported', buildId: manifest.buildId, ...report }
    } finally {
      await built.close(true, AbortSignal.timeout(END_LIMIT_MS))
    }
  } catch (thrown) {
    if (!isTold(thrown)) throw thrown
    return { kind: 'failed', message: thrown instanceof ConfigError ? configFault(thrown) : thrown.message }
  }
}

function isTold(thrown: unknown): thrown is Error {
  return thrown instanceof ExportError || thrown instanceof FolderFault || thrown instanceof ConfigError
}
