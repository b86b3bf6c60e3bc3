import type { Logger } from 'pino'
import type { Config } from '../config/config.ts'
import { DAY_MS, keepBuild, pruneKeptBuilds } from './kept-builds.ts'

/** A build in use is kept for `KEEP_ASSETS_DAYS` from when it was last said to be; an hour more or less is nothing. */
const SAY_EVERY_MS = 3_600_000

/** What is shared. */
export interface SharedAssets {
  readonly buildId: string
  /** Absolute path of the build's public folder. */
  readonly folder: string
  readonly log: Pick<Logger, 'warn'>
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/**
 * Puts this server's build into the folder that instances share, where there is one, and says once an hour, and at the end, that it is in
 * use. Never rejects: where the folder cannot be written it is only read, which is logged once.
 * @returns when the files are there: says for the last time that they are used, and stops.
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
