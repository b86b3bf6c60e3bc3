/** A process of its own, since modules that Node has loaded stay: whether `millrace dev` could start with a project's settings. */
import { writeSync } from 'node:fs'
import { findPostcssConfig, loadPostcssConfig } from '../build/assets/postcss-config.ts'
import { ConfigError } from '../../src/server/config/config.ts'
import { configFault } from '../../src/server/config/variable-origin.ts'
import { loadEnvFiles } from './env-files.ts'
import { readDevSettings } from './dev-options.ts'

try {
  loadEnvFiles(process.cwd())
  const { options } = await readDevSettings(process.argv.slice(2))
  const styles = findPostcssConfig(options.root)
  if (styles !== undefined) await loadPostcssConfig(options.root, styles)
  // Not the exit code: a config may end this process.
  writeSync(1, 'usable')
} catch (error) {
  const fault = error instanceof ConfigError ? configFault(error) : undefined
  console.error(fault ?? (error instanceof Error ? error.message : String(error)))
  process.exitCode = 1
}
// A plugin of the config may have opened something.
process.exit()
