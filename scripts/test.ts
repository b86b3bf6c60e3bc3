/**
 * `npm test`: the checks and tests that must pass before a commit. `npm test -- --help` lists the arguments. Each suite
 * prints a line with its count and its time; the last line is `N passed, N failed`, where each check counts as one.
 */
import { resolve } from 'node:path'
import { runCommand } from './checks/run-command.ts'
import { sourceSuites } from './checks/source-checks.ts'
import { hasTests, runSuites, runSuitesAtOnce, suiteSummary } from './checks/suite.ts'
import { ArgumentFault, readTestArguments, TEST_USAGE, type TestArguments } from './checks/test-arguments.ts'
import { testSuites, watchTests } from './checks/test-suites.ts'

const root = resolve(import.meta.dirname, '..')
const now = (): number => performance.now()

async function runTests(args: TestArguments): Promise<void> {
  const suites = await testSuites(root, args, process.env)
  const started = now()
  const checks =
    args.mode === 'words' || args.mode === 'soak' ? [] : await runSuitesAtOnce(sourceSuites(root), console.log, now)
  const results = [...checks, ...(await runSuites(suites, console.log, now))]
  if (!hasTests(results)) {
    results.push({ title: 'Arguments', counts: 'check', passed: 0, failed: 1, elapsedMs: 0, note: 'no test ran' })
  }
  for (const line of suiteSummary(results, now() - started)) console.log(line)
  if (results.some(({ failed }) => failed > 0)) process.exitCode = 1
}

/** Builds what the tests need, and leaves the terminal to vitest. */
async function watch(args: TestArguments): Promise<void> {
  const { suites, vitest } = await watchTests(root, args, process.env)
  const results = await runSuites(suites, console.log, now)
  const isReady = results.every(({ failed }) => failed === 0)
  process.on('SIGINT', () => {}) // Ctrl+C is vitest's, which ends its workers first
  process.exitCode = isReady
    ? (await runCommand('vitest', vitest, { cwd: root, env: { NODE_ENV: 'test' }, input: 'inherit' })).code
    : 1
}

try {
  const args = readTestArguments(process.argv.slice(2))
  if (args === 'help') console.log(TEST_USAGE)
  else await (args.watches === true ? watch(args) : runTests(args))
} catch (error) {
  if (!(error instanceof ArgumentFault)) throw error
  console.error(error.message)
  process.exitCode = 1
}
