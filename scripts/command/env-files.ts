import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { ENV_FILES, rememberEnvFiles } from '../../src/server/config/variable-origin.ts'
import { BuildFault } from '../build/build-fault.ts'

/**
 * Reads the variables of a project's `.env` files into this process's environment.
 * @throws {BuildFault} in one line, for a file that cannot be read.
 */
export function loadEnvFiles(folder: string): void {
  const origins = new Map<string, string>()
  const hidden = new Map<string, string>()
  for (const name of ENV_FILES) {
    for (const [variable, value] of Object.entries(readEnvFile(folder, name))) {
      if (process.env[variable] === undefined) {
        process.env[variable] = value
        origins.set(variable, name)
      } else if (!origins.has(variable) && !hidden.has(variable)) {
        hidden.set(variable, name)
      }
    }
  }
  rememberEnvFiles({ folder, origins, hidden })
}

function readEnvFile(folder: string, name: string): NodeJS.Dict<string> {
  const file = join(folder, name)
  if (!existsSync(file)) return {}
  try {
    return parseEnv(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new BuildFault(`${name} could not be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}
