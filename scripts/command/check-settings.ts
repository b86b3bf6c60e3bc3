/** A process of its own, since modules that Node has loaded stay: whether the settings of the working folder can be used. */
import { readConfig } from '../../src/server/config/config.ts'
import { readBuildArguments } from '../build/build-options.ts'
import { loadEnvFiles } from './env-files.ts'

try {
  loadEnvFiles(process.cwd())
  await readBuildArguments(process.argv.slice(2), { hasOutput: false })
  readConfig(process.env)
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}
