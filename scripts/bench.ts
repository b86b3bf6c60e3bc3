/**
 * `npm run bench`: builds, then measures the reference application beside a bare Express server that renders the same
 * pages, and its client router in a Chromium beside React alone. Ratios are of one run on one machine; absolute figures
 * only show what they are made of.
 */
import { BenchUsageError, parseOptions, USAGE } from '../tests/bench/options.ts'
import { PROJECT } from '../tests/bench/bundle.ts'
import { runCommand } from './checks/run-command.ts'

async function main(): Promise<number> {
  const args = process.argv.slice(2)
  const options = parseOptions(args)
  if (options.help) {
    console.log(USAGE)
    return 0
  }
  if (options.ours === undefined) {
    const build = await runCommand(process.execPath, ['--conditions=millrace-source', 'bin/millrace.js', 'build'], {
      cwd: PROJECT,
      output: 'collect',
    })
    if (build.code !== 0) {
      console.error(build.output)
      return build.code
    }
  }
  const { code } = await runCommand(process.execPath, ['tests/bench/main.ts', ...args], { cwd: PROJECT })
  return code
}

try {
  process.exitCode = await main()
} catch (error) {
  console.error(error instanceof BenchUsageError ? `${error.message}\n\n${USAGE}` : error)
  process.exitCode = 1
}
