/**
 * `npm run bench`: builds, then measures the reference application beside a bare Express server that renders the same
 * pages. Ratios are of one run on one machine; absolute figures only show what they were made of.
 */
import { BenchUsageError, parseOptions, USAGE } from '../tests/bench/options.ts'
import { runBenchmark } from '../tests/bench/run.ts'
import { PROJECT } from '../tests/bench/bundle.ts'
import { runCommand } from './checks/run-command.ts'

async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2))
  if (options.help) {
    console.log(USAGE)
    return 0
  }
  if (options.ours === undefined) {
    const build = await runCommand(process.execPath, ['scripts/build.ts'], { cwd: PROJECT, output: 'collect' })
    if (build.code !== 0) {
      console.error(build.output)
      return build.code
    }
  }
  return (await runBenchmark(options)) || !options.gate ? 0 : 1
}

try {
  process.exitCode = await main()
} catch (error) {
  console.error(error instanceof BenchUsageError ? `${error.message}\n\n${USAGE}` : error)
  process.exitCode = 1
}
