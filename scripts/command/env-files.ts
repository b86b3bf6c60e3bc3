import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { BuildFault } from '../build/build-fault.ts'

/** In this order: the first value of a variable wins, and the environment has priority over files. */
export const ENV_FILES = ['.env.local', '.env'] as const

/**
 * Reads the variables of a project's `.env` files into this process's environment.
 * @throws {BuildFault} in one line, for a file that cannot be read.
 */
export function loadEnvFiles(folder: string): void {
  for (const name of ENV_FILES) {
    const file = join(folder, name)
    if (!existsSync(file)) continue
    try {
      process.loadEnvFile(file)
    } catch (error) {
      throw new BuildFault(`${name} could not be read: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
}
