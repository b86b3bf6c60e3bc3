import type { Logger } from 'pino'
import type { Config } from '../config/config.ts'
import { DAY_MS, keepBuild, pruneKeptBuilds } from './kept-builds.ts'

/** Builds are kept for days after their last use, so an hour more or less does not matter. */
const SAY_EVERY_MS = 3_600_000

/** Options of sharing. */
interface SharedAssets {
  readonly buildId: string
  /** Absolute path of the build's public folder. */
  readonly folder: string
  readonly log: Pick<Logger, 'warn'>
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/**
 * Copies this server's build into the folder that instances share, if there is one, and marks it as used every hour and
 * at the end. Never rejects: a read-only folder is only read, which is logged once.
 * @returns resolves when the files are there, to a function that marks the last use and stops.
 */
export async function shareAssets(
  { assetsDir, keepAssetsDays }: Pick<Config, 'assetsDir' | 'keepAssetsDays'>,
  { buildId, folder, log, now }: SharedAssets,
): Promise<() => Promise<void>> {
  if (assetsDir === undefined) return () => Promise.resolve()
  const told = { fault: false }
  const say = async (): Promise<void> => {
    try {
      const time = { now: now(), keepMs: keepAssetsDays * DAY_MS }
      await keepBuild(assetsDir, { buildId, from: folder, lastUsed: time.now })
      await pruneKeptBuilds(assetsDir, time, buildId)
    } catch (error) {
      if (told.fault) return
      told.fault = true
      const err = { message: error instanceof Error ? error.message : String(error) }
      log.warn({ err }, 'the files of this build cannot be kept in ASSETS_DIR')
    }
  }
  await say()
  const timer = setInterval(() => void say(), SAY_EVERY_MS).unref()
  return () => {
    clearInterval(timer)
    return say()
  }
}
