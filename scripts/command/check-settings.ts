/** A process of its own, since modules that Node has loaded stay: whether a project's settings can be used. */
import { readConfig } from '../../src/server/config/config.ts'
import { loadConfig } from '../build/load-config.ts'
import { loadEnvFiles } from './env-files.ts'

try {
  loadEnvFiles(process.cwd())
  await loadConfig(process.argv[2] ?? process.cwd())
  readConfig(process.env)
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}
