import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import actions from 'millrace:actions'
import application from 'millrace:app'
import { createApp, type CreateAppOptions, type MillraceApp } from './app.ts'
import type { RewriteRule } from '../shared/rules/rule-types.ts'
import type { AssetManifest } from './assets/manifest.ts'
import { shareAssets } from './assets/share-assets.ts'
import type { Config } from './config/config.ts'

/** The application that this bundle was built with; it listens to nothing. */
export interface BuiltApp {
  readonly app: MillraceApp
  /** Whether a rewrite leads to another origin. */
  readonly hasProxies: boolean
  /**
   * Ends what the application has begun, flushes reports and closes the stores, once no answer is in progress.
   * @param drained whether all answers have been finished.
   * @param deadline ends the wait.
   * @returns whether everything was finished by then.
   */
  close(drained: boolean, deadline: AbortSignal): Promise<boolean>
}

/** What the process adds to what the build knows. */
interface BuiltAppOptions extends Pick<
  CreateAppOptions,
  'logDestination' | 'worker' | 'onRevalidate' | 'observe' | 'connections' | 'isEmbedded' | 'environment' | 'forFiles'
> {
  readonly config: Config
}

const DIST = join(import.meta.dirname, '..')

/** What the build says about the browser's files. */
export function readManifest(): AssetManifest {
  return JSON.parse(readFileSync(join(DIST, 'manifest.json'), 'utf8')) as AssetManifest
}

/**
 * Makes the built application.
 * @throws as `createApp`.
 */
export async function openBuiltApp(manifest: AssetManifest, options: BuiltAppOptions): Promise<BuiltApp> {
  const folder = join(DIST, 'public')
  const assets = { manifest, folder, maps: join(DIST, 'maps'), former: join(DIST, 'former') }
  const app = createApp({ ...options, app: application, actions, assets, reportFailures: true })
  const { log } = app
  // Before the first document: the files it names must be found at the other instances too.
  const endSharing = await shareAssets(options.config, { buildId: manifest.buildId, folder, log, now: Date.now })
  return {
    app,
    hasProxies: Object.values<RewriteRule | readonly RewriteRule[]>(application.rules?.rewrites ?? {})
      .flat()
      .some(({ destination }) => /^https?:/i.test(destination)),
    async close(drained, deadline) {
      const orderly = (await app.life.stop(deadline)) && drained
      // This server's own reports go into the spool first. The next start delivers what the service does not take in time.
      await app.reporter?.flush()
      await app.reports.flush(deadline)
      app.dispose()
      await endSharing()
      log.info({ orderly }, 'stopped')
      return orderly
    },
  }
}
