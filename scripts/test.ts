/**
 * `npm test`: everything that must hold before a commit, in the order in which a fault is cheapest to see. Arguments
 * go to vitest as they are: `npm test -- tests/unit/routing`. The last line is `N passed, N failed`: each test is one,
 * and so is each of the checks around them.
 */
import { resolve } from 'node:path'
import { findChromium, HOW_TO_GET_CHROMIUM } from '../tests/support/chromium.ts'
import { findProgram, howToGet, PROGRAMS } from '../tests/support/programs.ts'
import { checkHouse } from './checks/house.ts'
import { runCommand } from './checks/run-command.ts'
import { runVitest } from './checks/vitest-run.ts'
import type { TestCount } from './checks/vitest-run.ts'
import { typecheck } from './typecheck.ts'

const PASSED: TestCount = { passed: 1, failed: 0 }
const FAILED: TestCount = { passed: 0, failed: 1 }

const STEP_LIMIT_MS = 300_000 // a lint or a build that is still at it has hung

const root = resolve(import.meta.dirname, '..')
const filters = process.argv.slice(2)
const ran = { tests: 0 }

async function check(holds: boolean | Promise<boolean>): Promise<TestCount> {
  return (await holds) ? PASSED : FAILED
}

async function succeeds(command: string, args: readonly string[]): Promise<boolean> {
  return (await runCommand(command, args, { cwd: root, timeoutMs: STEP_LIMIT_MS })).code === 0
}

async function lint(): Promise<boolean> {
  const linted = await succeeds('oxlint', ['--deny-warnings'])
  const formatted = await succeeds('prettier', ['--check', '--log-level', 'warn', '.'])
  return linted && formatted
}

async function testsInBrowser(): Promise<TestCount> {
  if (findChromium() !== undefined) return runTests('browser')
  const required = process.env['REQUIRE_BROWSER'] === '1'
  console.log(`Browser tests ${required ? 'cannot run' : 'skipped'}: no Chromium found. ${HOW_TO_GET_CHROMIUM}`)
  return required ? FAILED : { passed: 0, failed: 0 }
}

/** What tests need that npm does not bring. Those that need it skip where it is missing. */
async function programs(): Promise<TestCount> {
  const missing = PROGRAMS.filter((name) => findProgram(name) === undefined)
  const required = process.env['REQUIRE_PROGRAMS'] === '1'
  if (missing.length === 0) return PASSED
  console.log(
    `Some tests ${required ? 'cannot run' : 'are skipped'}: missing ${missing.join(', ')}. ${howToGet(missing)}`,
  )
  return required ? FAILED : { passed: 0, failed: 0 }
}

/** Runs tests and remembers how many there were, over all runs. */
async function runTests(...projects: readonly string[]): Promise<TestCount> {
  const count = await runVitest(root, projects, filters)
  ran.tests += count.passed + count.failed
  return count
}

const steps: readonly (readonly [title: string, run: () => Promise<TestCount>])[] = [
  ['Programs', programs],
  ['Types', () => check(typecheck(root))],
  ['Lint and format', () => check(lint())],
  ['House rules', () => check(checkHouse(root))],
  ['Build of the reference application', () => check(succeeds(process.execPath, ['scripts/build.ts']))],
  ['Unit and HTTP tests', () => runTests('unit', 'http')],
  ['Browser tests', testsInBrowser],
  ['Tests in other browsers', () => runTests('engines')],
  ['Operations tests', () => runTests('ops')],
]

const total = { passed: 0, failed: 0 }
const faulty: string[] = []
for (const [title, run] of steps) {
  console.log(`\n── ${title} ──`)
  const { passed, failed } = await run().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error)
    return FAILED
  })
  total.passed += passed
  total.failed += failed
  if (failed > 0) faulty.push(title)
}

if (ran.tests === 0) {
  total.failed += 1
  faulty.push(`the arguments: no test matches ${filters.join(' ')}`)
}
if (faulty.length > 0) {
  console.log(`\nFaults in: ${faulty.join(', ')}`)
  process.exitCode = 1
}
console.log(`\n${total.passed} passed, ${total.failed} failed`)
