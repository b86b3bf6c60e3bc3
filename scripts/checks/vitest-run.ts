import { mkdtempDisposable, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from './run-command.ts'

/** Tests counted over one or more runs. */
export interface TestCount {
  readonly passed: number
  readonly failed: number
  /** Skipped tests in files that ran. */
  readonly skipped?: number
}

/** The parts of vitest's JSON report that we read. Source: vitest, `JsonTestResults`. */
export interface VitestReport {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests?: number
  readonly testResults: readonly {
    readonly status: string
    readonly assertionResults: readonly {
      readonly status: string
      readonly fullName?: string
      /** Of all attempts: a test that passed at its second attempt has some, too. */
      readonly failureMessages?: readonly string[]
    }[]
  }[]
}

/**
 * Counts a run. A file that could not be loaded counts as one failure, and so does a run that failed without naming any
 * test (an unhandled rejection, a crash).
 * @param report `undefined` if the run wrote none.
 * @param exitCode of vitest.
 */
export function countTests(report: VitestReport | undefined, exitCode: number): TestCount {
  const passed = report?.numPassedTests ?? 0
  const brokenFiles = (report?.testResults ?? []).filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  ).length
  const failed = (report?.numFailedTests ?? 0) + brokenFiles
  const skipped = report?.numPendingTests ?? 0
  return { passed, failed: failed === 0 && exitCode !== 0 ? 1 : failed, ...(skipped > 0 && { skipped }) }
}

/** The names of tests that failed before they passed, if the project's settings allow retries. */
export function passedAtSecondAttempt(report: VitestReport | undefined): readonly string[] {
  return (report?.testResults ?? [])
    .flatMap((file) => file.assertionResults)
    .filter((test) => test.status === 'passed' && (test.failureMessages?.length ?? 0) > 0)
    .map((test) => test.fullName ?? 'a test without a name')
}

/** Options of a run of vitest. */
interface VitestRun {
  /** From `vitest.config.ts`. */
  readonly project: string
  /** Paths in the project; default: all files of the project in `vitest.config.ts`. */
  readonly files?: readonly string[]
  /** Options of vitest. */
  readonly options: readonly string[]
  /** Gets the whole output at the end; unless given, the terminal shows it at once. */
  readonly print?: ((text: string) => void) | undefined
}

/** Sources that count as not covered if no test of a whole run has loaded them. */
const SOURCES = ['src/**/*.{ts,tsx}', 'scripts/**/*.ts'] as const

/**
 * Options of vitest that report which lines have run, in the process of the tests. Each project has a folder of its own.
 * @param isWhole whether all files of the project run: then sources that nothing has loaded are listed, too.
 */
export function coverageOptions(project: string, isWhole: boolean): readonly string[] {
  return [
    '--coverage.enabled',
    `--coverage.reportsDirectory=coverage/${project}`,
    ...(isWhole ? SOURCES.map((glob) => `--coverage.include=${glob}`) : []),
  ]
}

/**
 * Runs a vitest project.
 * @param root the project's folder.
 */
export async function runVitest(root: string, { project, files = [], options, print }: VitestRun): Promise<TestCount> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'millrace-test-'))
  const reportFile = join(folder.path, 'report.json')
  // Tests start hundreds of commands, each of which would compile the same modules again. Coverage needs this,
  // because V8 does not count the functions of cached code.
  const isCounted = project === 'package' || options.some((option) => option.startsWith('--coverage'))
  const hasReporter = options.some((option) => option.startsWith('--reporter'))
  const { code, output } = await runCommand(
    'vitest',
    [
      'run',
      `--project=${project}`,
      ...(hasReporter ? [] : ['--reporter=default']),
      '--reporter=json',
      `--outputFile.json=${reportFile}`,
      '--passWithNoTests',
      ...options,
      ...files,
    ],
    {
      cwd: root,
      env: { NODE_ENV: 'test', ...(isCounted ? {} : { NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/node') }) },
      output: print === undefined ? 'inherit' : 'collect',
    },
  )
  print?.(output)
  const report = await readReport(reportFile)
  for (const name of passedAtSecondAttempt(report)) (print ?? console.log)(`Passed only at its second attempt: ${name}`)
  return countTests(report, code)
}

async function readReport(file: string): Promise<VitestReport | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as VitestReport
  } catch {
    return undefined // vitest ended before it could write; its exit code tells
  }
}
