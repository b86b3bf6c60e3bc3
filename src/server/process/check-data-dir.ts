import { accessSync, constants } from 'node:fs'
import { ConfigError } from '../config/config.ts'
import { makeFolder } from '../stores/make-folder.ts'

/**
 * Makes sure at the start that a folder which was asked for can be used. Stores are opened by their first use, and a
 * slip in its name would show as failures of single pages, hours later.
 * @throws {ConfigError} where it cannot be made or written.
 */
export function checkDataDir(folder: string): void {
  try {
    makeFolder(folder)
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (thrown) {
    const { code = 'unknown error' } = thrown as NodeJS.ErrnoException
    throw new ConfigError(
      'DATA_DIR',
      `"${folder}" is refused: expected a folder that this process can make and write, and got ${code} (for example DATA_DIR=./data)`,
    )
  }
}
